import { type Row, statement } from '@florin/pg';
import { listPlace, listTotal, pageSize } from '#db/list-page.ts';

const columns = {
  product_id: 'text',
  product_name: 'text',
  description: 'text',
  image_url: 'text',
  image_status: 'text',
  image_reason: 'text',
  status: 'text',
  common_prices: 'int8[]',
  attributes: 'jsonb',
  created_at: 'timestamptz',
  updated_at: 'timestamptz',
} as const;

const columnList = Object.keys(columns).join(', ');

export const insertProduct = statement(
  'product_insert',
  ['text', 'text', 'text', 'text', 'int8[]', 'jsonb', 'timestamptz', 'text', 'text', 'text', 'text'],
  columns,
  `insert into products (product_id, merchant_id, product_name, description, status, common_prices, attributes,
     created_at, updated_at, image_status, image_reason, image_name, image_url)
   values ($1, $2, $3, $4, 'active', $5, $6, $7, $7, $8, $9, $10, $11)
   returning ${columnList}`,
);
export type ProductRow = Row<typeof insertProduct>;

// Newest first by order of creation; ordinal breaks ties within one second.
export const productPage = statement(
  'product_page',
  ['text', 'int8', 'int8', 'text'],
  { ...columns, total: 'int8?', is_listed: 'bool' },
  `with ${listPlace({
    list: 'products',
    total: listTotal('products', "'*'"),
    condition: "merchant_id = $1 and status <> 'removed'",
    skip: '$3',
    after: { idColumn: 'product_id', id: '$4' },
  })}
   select ${columnList}, place.total, product_id is not null as is_listed
   from place left join lateral (
     select ordinal, ${columnList} from products
     where merchant_id = $1 and status <> 'removed' and ordinal <= (select ordinal from first_row)
     order by ordinal desc limit ${pageSize('$2')}
   ) as page on true
   order by page.ordinal desc`,
);

export const productsById = statement(
  'product_by_ids',
  ['text', 'text[]'],
  columns,
  `select ${columnList} from products
   where product_id = any($2) and merchant_id = $1 and status <> 'removed'`,
);

// PostgreSQL gives a row another xmin at each change: by it a reader that remembers a product asks later whether it is
// still the same.
export const versionedProductsById = statement(
  'product_versioned_by_ids',
  ['text', 'text[]'],
  { ...columns, version: 'text' },
  `select ${columnList}, xmin::text as version from products
   where product_id = any($2) and merchant_id = $1 and status <> 'removed'`,
);

/** Parameters of `changedProducts`, in order. */
export const productVersionKinds = ['text[]', 'text[]'] as const;

/**
 * The common table `changed_products`, from two array parameters of which the first has this number: the places, from 1,
 * of the products that are no longer as they were read. A subquery and not a join: each is one look into the primary key,
 * whatever PostgreSQL thinks of the number of products.
 */
export function changedProducts(first: number): string {
  return `changed_products as (
    select seen.position
    from unnest($${first}::text[], $${first + 1}::text[]) with ordinality as seen (product_id, version, position)
    where (select xmin::text from products where products.product_id = seen.product_id) is distinct from seen.version
  )`;
}

// For new links: the lock keeps a product from being archived or removed between this look and the link's commit.
// In the order of ids, so that two links cannot wait for each other.
export const lockProductsById = statement(
  'product_lock_by_ids',
  ['text', 'text[]'],
  columns,
  `select ${columnList} from products
   where product_id = any($2) and merchant_id = $1 and status <> 'removed'
   order by product_id for update`,
);

export const markReferenced = statement(
  'product_mark_referenced',
  ['text', 'text[]'],
  {},
  `update products set referenced = true where merchant_id = $1 and product_id = any($2) and not referenced`,
);

// Removed products too: they are refused by name.
export const lockProduct = statement(
  'product_lock',
  ['text', 'text'],
  { ...columns, referenced: 'bool', image_name: 'text' },
  `select ${columnList}, referenced, image_name from products where merchant_id = $1 and product_id = $2 for update`,
);

export const setProductStatus = statement(
  'product_set_status',
  ['text', 'text', 'timestamptz'],
  columns,
  `update products set status = $2, updated_at = $3 where product_id = $1 and status <> 'removed'
   returning ${columnList}`,
);

export const replaceProduct = statement(
  'product_replace',
  ['text', 'text', 'text', 'int8[]', 'jsonb', 'timestamptz', 'text', 'text', 'text', 'text'],
  columns,
  `update products set product_name = $2, description = $3, common_prices = $4, attributes = $5, updated_at = $6,
     image_status = $7, image_reason = $8, image_name = $9, image_url = $10
   where product_id = $1 and status <> 'removed'
   returning ${columnList}`,
);

export const setProductImage = statement(
  'product_set_image',
  ['text', 'timestamptz', 'text', 'text', 'text', 'text'],
  columns,
  `update products set updated_at = $2, image_status = $3, image_reason = $4, image_name = $5, image_url = $6
   where product_id = $1 and status <> 'removed'
   returning ${columnList}`,
);

export const removeProductRow = statement(
  'product_remove',
  ['text', 'text', 'timestamptz'],
  {},
  `update products set status = $2, updated_at = $3 where product_id = $1 and not referenced`,
);
