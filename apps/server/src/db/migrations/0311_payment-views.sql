-- Filters of the payments list that a member keeps under a name.
create table payment_views (
  merchant_id text not null,
  user_id text not null,
  name text not null,
  filters jsonb not null,
  created_at timestamptz not null,
  primary key (merchant_id, user_id, name),
  -- The views end with the membership.
  foreign key (merchant_id, user_id) references memberships on delete cascade
);
