-- Reports that merchants order: a worker writes them piece by piece (docs/decisions/0125).
create table reports (
  report_id text primary key,
  merchant_id text not null references merchants,
  report_type text not null check (report_type in ('settlements', 'payments', 'fees', 'refunds')),
  format text not null check (format in ('csv', 'json')),
  account_id text not null,
  from_time timestamptz not null,
  to_time timestamptz not null check (to_time > from_time),
  -- In the file's address, which needs no key.
  secret text not null,
  status text not null check (status in ('pending', 'ready', 'failed')),
  reason text not null default '',
  -- The last row read, and the last one to read, by ordinal.
  done_to bigint not null default 0,
  last_ordinal bigint not null,
  piece_count int not null default 0,
  failed_attempts int not null default 0,
  row_count bigint not null default 0,
  total_value numeric(40, 0) not null default 0,
  fee_value numeric(40, 0) not null default 0,
  net_value numeric(40, 0) not null default 0,
  created_at timestamptz not null,
  -- When the file is deleted.
  expires_at timestamptz not null
);
-- Work in its order, and a merchant's limit.
create index reports_pending on reports (created_at) where status = 'pending';
create index reports_by_merchant on reports (merchant_id, created_at);
create index reports_expiring on reports (expires_at);

create table report_pieces (
  merchant_id text not null,
  report_id text not null references reports on delete cascade,
  position int not null,
  body text not null,
  primary key (report_id, position)
);
