-- The whole look of a merchant's hosted pages, besides the logo and the colour. The defaults are the page's own, so that the
-- last release can still write the row.
alter table branding
  add column dark_logo_name text not null default '',
  add column dark_logo_url text not null default '',
  add column icon_name text not null default '',
  add column icon_url text not null default '',
  add column background text not null default '' check (background ~ '^(#[0-9a-f]{6})?$'),
  add column corner_radius int not null default 12 check (corner_radius between 0 and 24),
  add column font text not null default 'system',
  add column legal_name text not null default '',
  add column support_url text not null default '',
  add column terms_url text not null default '',
  add column refund_url text not null default '',
  add column privacy_url text not null default '',
  add check ((dark_logo_name <> '') = (dark_logo_url <> '')),
  add check ((icon_name <> '') = (icon_url <> ''));
-- Whether an image is in use is asked by its name.
create index branding_by_dark_logo on branding (dark_logo_name) where dark_logo_name <> '';
create index branding_by_icon on branding (icon_name) where icon_name <> '';
