-- What became of the image that the merchant named; the reason is a text for the merchant, empty when there is nothing
-- to explain. image_name is the hosted image that image_url shows.
alter table products add column image_status text not null default 'none'
  check (image_status in ('none', 'hosted', 'pending', 'failed'));
alter table products add column image_reason text not null default '';
alter table products add column image_name text not null default '';
alter table products add check ((image_status = 'hosted') = (image_name <> ''));
alter table products add check ((image_name <> '') = (image_url <> ''));
create index products_by_image on products (image_name) where image_name <> '';

-- Images in the store. Each belongs to one merchant; its row stands before its files do and goes after them, so that no
-- file is ever without one.
create table images (
  image_name text primary key,
  merchant_id text not null references merchants,
  -- When it was last given to a product, or taken from one.
  touched_at timestamptz not null,
  -- A session's snapshot shows it: it stays for good.
  kept boolean not null default false,
  -- How far the search for such a session has come.
  searched_ordinal bigint not null default 0,
  -- Its files are about to go: nobody may start to use it.
  removing boolean not null default false,
  created_at timestamptz not null
);
create index images_by_touch on images (touched_at) where not kept;

-- Images that could not be had when they were asked for and are tried again.
create table image_downloads (
  product_id text primary key references products,
  merchant_id text not null references merchants,
  source_url text not null,
  -- Changes with every request, so that a try for an older one ends without effect.
  ordinal bigint generated always as identity,
  attempts int not null default 0 check (attempts >= 0),
  next_at timestamptz not null,
  created_at timestamptz not null
);
create index image_downloads_due on image_downloads (next_at);
