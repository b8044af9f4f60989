-- Orders of type 3 are burnt on their own chain and minted on the merchant's by Circle's CCTP.
alter table orders drop constraint orders_order_type_check;
alter table orders add constraint orders_order_type_check check (order_type in (0, 1, 2, 3));
alter table settlements drop constraint settlements_leg_check;
alter table settlements add constraint settlements_leg_check check (leg in ('settle', 'payout', 'refund', 'mint'));
alter table chain_events drop constraint chain_events_contract_check;

-- Where an order is paid and settled, and which vault pays for it: an order outlives the configuration that it was signed
-- under. The vault must never change for an order, or a second one could pay it again. Empty in rows from before: they
-- are of the first contracts that the chain had.
alter table orders add column gateway text not null default '';
alter table orders add column payout_vault text not null default '';

-- Legs that wait for a person: nothing is sent for them until they are released. A released leg is held no more.
alter table settlements add column held_at timestamptz;
alter table settlements add column released_at timestamptz;
create index settlements_held on settlements (chain_id, held_at) where held_at is not null and released_at is null;
-- What has flown out of the vaults in the last hour and day.
create index settlements_payouts on settlements (chain_id, updated_at) where leg = 'payout';
