-- The origins of the shops whose pages may embed a merchant's checkout. The default is none, so that the last release can
-- still write the row.
alter table branding
  add column embed_origins text[] not null default '{}' check (cardinality(embed_origins) <= 20);
