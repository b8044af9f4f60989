-- Gas that the service has set apart for payments that it sends for payers, and for what it sends back to them, by hour. It
-- counts by merchant, whatever link, payer or network a payment comes with (docs/decisions/0062). The rows of the empty merchant
-- are the sums of all.
create table relayed_gas (
  merchant_id text not null,
  chain_id bigint not null,
  kind text not null check (kind in ('payments', 'returns')),
  hour timestamptz not null,
  gas bigint not null check (gas >= 0),
  primary key (chain_id, kind, merchant_id, hour)
);
create index relayed_gas_by_hour on relayed_gas (hour);
