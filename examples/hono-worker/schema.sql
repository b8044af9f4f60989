create table if not exists orders (
  order_id text primary key,
  product text not null,
  session_id text not null default '',
  payment_url text not null default '',
  status text not null default 'new'
);
create index if not exists orders_of_sessions on orders (session_id);
