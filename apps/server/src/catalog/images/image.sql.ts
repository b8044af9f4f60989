import { statement } from '@florin/pg';

// Runs before the files are stored. It returns no row for an image that is being removed, because its files may disappear.
export const insertImage = statement({
  name: 'image_insert',
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
  text: `insert into image_downloads (product_id, merchant_id, source_url, next_at, created_at)
   values (:productId, :merchantId, :sourceUrl, :nextAt, :createdAt)`,
});

export const dropDownload = statement({
  name: 'image_download_drop',
  parameters: { productId: 'text' },
  text: 'delete from image_downloads where product_id = :productId',
});

// Leases one download: if the process dies, another one retries it. Rows that other processes have locked are skipped.
export const leaseDownload = statement({
  name: 'image_download_lease',
  parameters: { now: 'timestamptz', nextAt: 'timestamptz' },
  columns: { product_id: 'text', merchant_id: 'text', source_url: 'text', ordinal: 'int8', attempts: 'int4' },
  text: `update image_downloads set next_at = :nextAt, attempts = attempts + 1
   where product_id = (
     select product_id from image_downloads where next_at <= :now order by next_at limit 1 for update skip locked
   )
   returning product_id, merchant_id, source_url, ordinal, attempts`,
});

// Locked after the product's row, in the order that every change of products uses.
export const lockDownload = statement({
  name: 'image_download_lock',
  parameters: { productId: 'text', ordinal: 'int8' },
  columns: { product_id: 'text' },
  text: 'select product_id from image_downloads where product_id = :productId and ordinal = :ordinal for update',
});

export const postponeDownload = statement({
  name: 'image_download_postpone',
  parameters: { productId: 'text', ordinal: 'int8', attempts: 'int4', nextAt: 'timestamptz' },
  text: 'update image_downloads set attempts = :attempts, next_at = :nextAt where product_id = :productId and ordinal = :ordinal',
});

/** No brand shows the image. Each column has its own index. */
const isNoBrands = ['logo_name', 'dark_logo_name', 'icon_name']
  .map((column) => `not exists (select from branding b where b.${column} = i.image_name)`)
  .join(' and ');

// Images that were not touched since, that no product and no branding shows, and that were not found in a session.
// Interrupted removals come first.
export const unusedImages = statement({
  name: 'image_unused',
  parameters: { touchedBefore: 'timestamptz', limit: 'int8' },
  columns: { image_name: 'text', merchant_id: 'text', searched_ordinal: 'int8' },
  text: `select image_name, merchant_id, searched_ordinal from images i
   where touched_at < :touchedBefore and not kept
     and not exists (select from products p where p.image_name = i.image_name and p.status <> 'removed')
     and ${isNoBrands}
   order by removing desc, touched_at limit :limit`,
});

export const retainImage = statement({
  name: 'image_retain',
  parameters: { imageName: 'text' },
  text: 'update images set kept = true where image_name = :imageName and not removing',
});

export const recordSearch = statement({
  name: 'image_record_search',
  parameters: { imageName: 'text', searchedOrdinal: 'int8' },
  text: 'update images set searched_ordinal = :searchedOrdinal where image_name = :imageName',
});

// A product that takes the image touches its row first. If it does so before this statement, the image stays; afterwards
// the touch finds no row.
export const startRemoval = statement({
  name: 'image_start_removal',
  parameters: { imageName: 'text', touchedAt: 'timestamptz' },
  columns: { image_name: 'text' },
  text: `update images i set removing = true
   where image_name = :imageName and touched_at < :touchedAt and not kept
     and not exists (select from products p where p.image_name = i.image_name and p.status <> 'removed')
     and ${isNoBrands}
   returning image_name`,
});

export const deleteImage = statement({
  name: 'image_delete',
  parameters: { imageName: 'text' },
  text: 'delete from images where image_name = :imageName and removing',
});
