-- How a merchant's hosted pages look: a logo, which is a hosted image like those of products, and one colour.
create table branding (
  merchant_id text primary key references merchants,
  logo_name text not null,
  logo_url text not null,
  -- Empty: the page's own.
  color text not null check (color ~ '^(#[0-9a-f]{6})?$'),
  updated_at timestamptz not null,
  check ((logo_name <> '') = (logo_url <> ''))
);
-- Whether an image is in use is asked by its name.
create index branding_by_logo on branding (logo_name) where logo_name <> '';
