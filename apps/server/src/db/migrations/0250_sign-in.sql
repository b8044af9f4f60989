-- People sign in to the dashboard with better-auth. These tables are its own, named as it names them, in a schema of their
-- own; it never migrates by itself (docs/decisions/0115). The columns method and provenAt are ours.
create schema sign_in;

create table sign_in."user" (
  id text primary key,
  name text not null,
  -- Lower case. It names the person at sign-in; the service does not prove that it reaches them.
  email text not null unique,
  "emailVerified" boolean not null default false,
  image text,
  "createdAt" timestamptz not null,
  "updatedAt" timestamptz not null,
  "twoFactorEnabled" boolean default false
);

create table sign_in.session (
  id text primary key,
  token text not null unique,
  "userId" text not null references sign_in."user" on delete cascade,
  "expiresAt" timestamptz not null,
  "createdAt" timestamptz not null,
  "updatedAt" timestamptz not null,
  "ipAddress" text,
  "userAgent" text,
  -- How the person proved who they are, and when they last did.
  method text not null,
  "provenAt" timestamptz not null
);
create index session_by_user on sign_in.session ("userId");

create table sign_in.account (
  id text primary key,
  issuer text not null,
  "accountId" text not null,
  "providerId" text not null,
  "userId" text not null references sign_in."user" on delete cascade,
  "accessToken" text,
  "refreshToken" text,
  "idToken" text,
  "accessTokenExpiresAt" timestamptz,
  "refreshTokenExpiresAt" timestamptz,
  scope text,
  password text,
  "createdAt" timestamptz not null,
  "updatedAt" timestamptz not null
);
create unique index "account_issuer_accountId_uidx" on sign_in.account (issuer, "accountId");
create index account_by_user on sign_in.account ("userId");

create table sign_in.verification (
  id text primary key,
  identifier text not null,
  value text not null,
  "expiresAt" timestamptz not null,
  "createdAt" timestamptz not null,
  "updatedAt" timestamptz not null
);
create index verification_by_identifier on sign_in.verification (identifier);

create table sign_in."twoFactor" (
  id text primary key,
  secret text not null,
  "backupCodes" text not null,
  "userId" text not null references sign_in."user" on delete cascade,
  verified boolean default true,
  "failedVerificationCount" integer default 0,
  "lockedUntil" timestamptz
);
create index two_factor_by_user on sign_in."twoFactor" ("userId");
create index two_factor_by_secret on sign_in."twoFactor" (secret);

create table sign_in.passkey (
  id text primary key,
  name text,
  "publicKey" text not null,
  "userId" text not null references sign_in."user" on delete cascade,
  "credentialID" text not null,
  counter integer not null,
  "deviceType" text not null,
  "backedUp" boolean not null,
  transports text,
  "createdAt" timestamptz,
  aaguid text
);
create index passkey_by_user on sign_in.passkey ("userId");
create index passkey_by_credential on sign_in.passkey ("credentialID");

select protect_table(format('sign_in.%I', name)::regclass, 'system_scope',
  'case (select current_setting(''florin.merchant'', true)) when ''*'' then true else false end')
from (values ('user'), ('session'), ('account'), ('verification'), ('twoFactor'), ('passkey')) as own (name);
