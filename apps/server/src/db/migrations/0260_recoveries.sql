-- People who lost every way to sign in get a link, by two owners of their only merchant or by the operator. It works after a
-- delay, in which the person and the owners can cancel it.
create table recoveries (
  recovery_id text primary key,
  user_id text not null references sign_in."user",
  -- The owner who asked; empty for the operator.
  asked_by text not null,
  -- SHA-256 of the token in the link; null until a second owner agrees.
  token_hash bytea unique,
  created_at timestamptz not null,
  effective_at timestamptz,
  -- asked: one owner wants it. waiting: the link exists, and works from effective_at on.
  status text not null check (status in ('asked', 'waiting', 'used', 'cancelled'))
);
-- A person has one at a time.
create unique index recoveries_open on recoveries (user_id) where status in ('asked', 'waiting');
