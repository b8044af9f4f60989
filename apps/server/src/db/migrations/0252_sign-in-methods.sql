-- What our own plugin of better-auth adds: recovery codes, wallets that sign in, and devices that were seen before.

create table sign_in."recoveryCode" (
  id text primary key,
  "userId" text not null references sign_in."user" on delete cascade,
  -- SHA-256 of a code of 100 random bits. A used code is deleted.
  "codeHash" text not null
);
create index recovery_code_by_user on sign_in."recoveryCode" ("userId");

create table sign_in.wallet (
  id text primary key,
  "userId" text not null references sign_in."user" on delete cascade,
  -- With its checksum. A wallet signs in one person.
  address text not null unique,
  "createdAt" timestamptz not null
);
create index wallet_by_user on sign_in.wallet ("userId");

create table sign_in.device (
  id text primary key,
  "userId" text not null references sign_in."user" on delete cascade,
  -- SHA-256 of the browser's device cookie.
  "deviceHash" text not null,
  "createdAt" timestamptz not null
);
create unique index "device_userId_deviceHash_uidx" on sign_in.device ("userId", "deviceHash");

-- Whether the browser was seen for the first time with this sign-in.
alter table sign_in.session add column "isNewDevice" boolean not null default false;
alter table sign_in.session alter column "isNewDevice" drop default;

select protect_table(format('sign_in.%I', name)::regclass, 'system_scope',
  'case (select current_setting(''florin.merchant'', true)) when ''*'' then true else false end')
from (values ('recoveryCode'), ('wallet'), ('device')) as own (name);

-- The pinned version of the library names an account by its provider alone. No account exists yet.
alter table sign_in.account drop column issuer;
create unique index account_by_provider on sign_in.account ("providerId", "accountId");
