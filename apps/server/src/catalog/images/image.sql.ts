import { statement } from '@florin/pg';

// Before the files are stored, and again when they are there already. No row comes back for one that is being removed:
// its files may go at any moment.
export const registerImage = statement(
  'image_register',
  ['text', 'text', 'timestamptz'],
  { image_name: 'text' },
  `insert into images (image_name, merchant_id, touched_at, created_at) values ($1, $2, $3, $3)
   on conflict (image_name) do update set touched_at = excluded.touched_at where not images.removing
   returning image_name`,
);

export const touchImage = statement(
  'image_touch',
  ['text', 'text', 'timestamptz'],
  { image_name: 'text' },
  `update images set touched_at = $3 where image_name = $1 and merchant_id = $2 and not removing
   returning image_name`,
);

export const putDownload = statement(
  'image_download_put',
  ['text', 'text', 'text', 'timestamptz', 'timestamptz'],
  {},
  `insert into image_downloads (product_id, merchant_id, source_url, next_at, created_at)
   values ($1, $2, $3, $4, $5)`,
);

export const dropDownload = statement(
  'image_download_drop',
  ['text'],
  {},
  'delete from image_downloads where product_id = $1',
);

// One try: the row is leased, so that a process that dies gives it back. Rows that others are looking at are passed by.
export const claimDownload = statement(
  'image_download_claim',
  ['timestamptz', 'timestamptz'],
  { product_id: 'text', merchant_id: 'text', source_url: 'text', ordinal: 'int8', attempts: 'int4' },
  `update image_downloads set next_at = $2, attempts = attempts + 1
   where product_id = (
     select product_id from image_downloads where next_at <= $1 order by next_at limit 1 for update skip locked
   )
   returning product_id, merchant_id, source_url, ordinal, attempts`,
);

// Locked after the product's row, as every change of products does it.
export const lockDownload = statement(
  'image_download_lock',
  ['text', 'int8'],
  { product_id: 'text' },
  'select product_id from image_downloads where product_id = $1 and ordinal = $2 for update',
);

export const postponeDownload = statement(
  'image_download_postpone',
  ['text', 'int8', 'int4', 'timestamptz'],
  {},
  'update image_downloads set attempts = $3, next_at = $4 where product_id = $1 and ordinal = $2',
);

// Images that nothing has touched since, that neither a product nor a merchant's branding shows, and that no session is
// known to show; those whose removal was broken off come first.
export const unusedImages = statement(
  'image_unused',
  ['timestamptz', 'int8'],
  { image_name: 'text', merchant_id: 'text', searched_ordinal: 'int8' },
  `select image_name, merchant_id, searched_ordinal from images i
   where touched_at < $1 and not kept
     and not exists (select from products p where p.image_name = i.image_name and p.status <> 'removed')
     and not exists (select from branding b where b.logo_name = i.image_name)
   order by removing desc, touched_at limit $2`,
);

export const keepImage = statement(
  'image_keep',
  ['text'],
  {},
  'update images set kept = true where image_name = $1 and not removing',
);

export const noteSearch = statement(
  'image_note_search',
  ['text', 'int8'],
  {},
  'update images set searched_ordinal = $2 where image_name = $1',
);

// Whoever gives the image to a product touches its row first, and so either comes before this statement, which then
// leaves it alone, or after it, and is turned away.
export const startRemoval = statement(
  'image_start_removal',
  ['text', 'timestamptz'],
  { image_name: 'text' },
  `update images i set removing = true
   where image_name = $1 and touched_at < $2 and not kept
     and not exists (select from products p where p.image_name = i.image_name and p.status <> 'removed')
     and not exists (select from branding b where b.logo_name = i.image_name)
   returning image_name`,
);

export const forgetImage = statement(
  'image_forget',
  ['text'],
  {},
  'delete from images where image_name = $1 and removing',
);
