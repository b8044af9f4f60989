-- People who act for a merchant, invitations, and the audit log.

create table memberships (
  merchant_id text not null references merchants,
  user_id text not null references sign_in."user",
  role text not null check (role in ('owner', 'admin', 'developer', 'finance', 'support', 'viewer')),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (merchant_id, user_id)
);
-- After sign-in: the merchants of one person.
create index memberships_by_user on memberships (user_id);

-- A merchant sees the names of its own members. The policy of memberships narrows the inner query.
create policy members_readable on sign_in."user" for select
  using (case (select current_setting('florin.merchant', true)) when '*' then true
    else (select true from memberships m where m.user_id = "user".id) end);

-- The operator's staff, who see every merchant.
create table staff (
  user_id text primary key references sign_in."user",
  created_at timestamptz not null
);

create table invitations (
  invitation_id text primary key,
  merchant_id text not null references merchants,
  role text not null check (role in ('owner', 'admin', 'developer', 'finance', 'support', 'viewer')),
  -- Only for the reader of the list; empty when the inviter gave none.
  email text not null,
  -- SHA-256 of the token in the link. The token itself is shown once.
  token_hash bytea not null unique,
  -- A member's id, or empty for the operator.
  invited_by text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  accepted_at timestamptz,
  accepted_by text references sign_in."user",
  revoked_at timestamptz
);
create index invitations_by_merchant on invitations (merchant_id, created_at);

create table audit_entries (
  entry_id bigint generated always as identity primary key,
  merchant_id text not null references merchants,
  at timestamptz not null,
  actor_kind text not null check (actor_kind in ('member', 'staff', 'operator')),
  actor_id text not null,
  -- As the actor was called then.
  actor_name text not null,
  action text not null,
  subject text not null,
  -- JSON as the API shows the subject; null when there was or is none.
  before text,
  after text,
  client_address text not null,
  user_agent text not null,
  request_id text not null
);
create index audit_entries_by_merchant on audit_entries (merchant_id, entry_id desc);

create function audit_append_only() returns trigger language plpgsql as $$
begin
  raise exception 'the audit log is append-only' using errcode = 'insufficient_privilege';
end $$;
create trigger audit_entries_append_only before update or delete or truncate on audit_entries
  for each statement execute function audit_append_only();
-- The service's role owns the table, so it gives up the rights too.
revoke update, delete, truncate on audit_entries from current_user;
