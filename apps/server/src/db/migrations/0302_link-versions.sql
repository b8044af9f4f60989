-- What payers agreed to before each change of a link. The present version is the link itself, so a link that was never
-- changed has no row.
create table link_versions (
  link_id text not null references links,
  version_ordinal bigint generated always as identity,
  merchant_id text not null references merchants,
  version_code text not null,
  terms jsonb not null,
  replaced_at timestamptz not null,
  primary key (link_id, version_ordinal)
);
