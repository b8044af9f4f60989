import { statement } from '@florin/pg';

// Before the files are stored, and again when they are there already. No row comes back for one that is being removed:
// its files may go at any moment.
export const registerImage = statement({
  name: 'image_register',
  parameters: { imageName: 'text', merchantId: 'text', touchedAt: 'timestamptz' },
  columns: { image_name: 'text' },
  text: `insert into images (image_name, merchant_id, touched_at, created_at) values (:imageName, :merchantId, :touchedAt, :touchedAt)
   on conflict (image_name) do update set touched_at = excluded.touched_at where not images.removing
   returning image_name`,
});

export const touchImage = statement({
  name: 'image_touch',
  parameters: { imageName: 'text', merchantId: 'text', touchedAt: 'timestamptz' },
  columns: { image_name: 'text' },
  text: `update images set touched_at = :touchedAt where image_name = :imageName and merchant_id = :merchantId and not removing
   returning image_name`,
});

export const putDownload = statement({
  name: 'image_download_put',
  parameters: {
    productId: 'text',
    merchantId: 'text',
    sourceUrl: 'text',
    nextAt: 'timestamptz',
    createdAt: 'timestamptz',
  },
  columns: {},
  text: `insert into image_downloads (product_id, merchant_id, source_url, next_at, created_at)
   values (:productId, :merchantId, :sourceUrl, :nextAt, :createdAt)`,
});

export const dropDownload = statement({
  name: 'image_download_drop',
  parameters: { productId: 'text' },
  columns: {},
  text: 'delete from image_downloads where product_id = :productId',
});

// One try: the row is leased, so that a process that dies gives it back. Rows that others are looking at are passed by.
export const claimDownload = statement({
  name: 'image_download_claim',
  parameters: { now: 'timestamptz', nextAt: 'timestamptz' },
  columns: { product_id: 'text', merchant_id: 'text', source_url: 'text', ordinal: 'int8', attempts: 'int4' },
  text: `update image_downloads set next_at = :nextAt, attempts = attempts + 1
   where product_id = (
     select product_id from image_downloads where next_at <= :now order by next_at limit 1 for update skip locked
   )
   returning product_id, merchant_id, source_url, ordinal, attempts`,
});

// Locked after the product's row, as every change of products does it.
export const lockDownload = statement({
  name: 'image_download_lock',
  parameters: { productId: 'text', ordinal: 'int8' },
  columns: { product_id: 'text' },
  text: 'select product_id from image_downloads where product_id = :productId and ordinal = :ordinal for update',
});

export const postponeDownload = statement({
  name: 'image_download_postpone',
  parameters: { productId: 'text', ordinal: 'int8', attempts: 'int4', nextAt: 'timestamptz' },
  columns: {},
  text: 'update image_downloads set attempts = :attempts, next_at = :nextAt where product_id = :productId and ordinal = :ordinal',
});

// Images that nothing has touched since, that neither a product nor a merchant's branding shows, and that no session is
// known to show; those whose removal was broken off come first.
export const unusedImages = statement({
  name: 'image_unused',
  parameters: { touchedBefore: 'timestamptz', limit: 'int8' },
  columns: { image_name: 'text', merchant_id: 'text', searched_ordinal: 'int8' },
  text: `select image_name, merchant_id, searched_ordinal from images i
   where touched_at < :touchedBefore and not kept
     and not exists (select from products p where p.image_name = i.image_name and p.status <> 'removed')
     and not exists (select from branding b where b.logo_name = i.image_name)
   order by removing desc, touched_at limit :limit`,
});

export const keepImage = statement({
  name: 'image_keep',
  parameters: { imageName: 'text' },
  columns: {},
  text: 'update images set kept = true where image_name = :imageName and not removing',
});

export const noteSearch = statement({
  name: 'image_note_search',
  parameters: { imageName: 'text', searchedOrdinal: 'int8' },
  columns: {},
  text: 'update images set searched_ordinal = :searchedOrdinal where image_name = :imageName',
});

// Whoever gives the image to a product touches its row first, and so either comes before this statement, which then
// leaves it alone, or after it, and is turned away.
export const startRemoval = statement({
  name: 'image_start_removal',
  parameters: { imageName: 'text', touchedAt: 'timestamptz' },
  columns: { image_name: 'text' },
  text: `update images i set removing = true
   where image_name = :imageName and touched_at < :touchedAt and not kept
     and not exists (select from products p where p.image_name = i.image_name and p.status <> 'removed')
     and not exists (select from branding b where b.logo_name = i.image_name)
   returning image_name`,
});

export const forgetImage = statement({
  name: 'image_forget',
  parameters: { imageName: 'text' },
  columns: {},
  text: 'delete from images where image_name = :imageName and removing',
});
