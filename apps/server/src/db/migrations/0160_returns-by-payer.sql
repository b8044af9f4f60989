-- Whom a return goes to, lower case: within a payment link's budget for returns each payer has a share
-- (docs/decisions/0046). Moves of the day before have none, and count for their link alone.
alter table deposit_moves add column payer text not null default '';
