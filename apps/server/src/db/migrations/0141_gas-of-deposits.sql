-- What moves of deposit addresses may cost in a day, by the payment link of the session, or else the merchant, whose budget
-- counts them: units of gas of those that were sent within a day of each other, and when the last one was.
alter table deposit_moves add column gas_limit bigint not null default 0;
alter table deposit_moves add column seller text not null default '';
alter table deposit_moves add column sent_at timestamptz;
create index deposit_moves_of_seller on deposit_moves (seller, move, sent_at);
