import { type Row, statement } from '#db/statement.ts';

const columns = {
  product_id: 'text',
  product_name: 'text',
  description: 'text',
  image_url: 'text',
  status: 'text',
  common_prices: 'int8[]',
  attributes: 'jsonb',
  created_at: 'timestamptz',
  updated_at: 'timestamptz',
} as const;

const columnList = Object.keys(columns).join(', ');

export const insertProduct = statement(
  'product_insert',
  ['text', 'text', 'text', 'text', 'text', 'int8[]', 'jsonb', 'timestamptz'],
  columns,
  `insert into products (product_id, merchant_id, product_name, description, image_url, status, common_prices,
     attributes, created_at, updated_at)
   values ($1, $2, $3, $4, $5, 'active', $6, $7, $8, $8)
   returning ${columnList}`,
);
export type ProductRow = Row<typeof insertProduct>;

export const productCount = statement(
  'product_count',
  ['text'],
  { total: 'int8' },
  `select count(*) as total from products where merchant_id = $1 and status <> 'removed'`,
);

// Newest first by order of creation; ordinal breaks ties within one second.
export const productPage = statement(
  'product_page',
  ['text', 'int8', 'int8'],
  columns,
  `select ${columnList} from products where merchant_id = $1 and status <> 'removed'
   order by ordinal desc limit $2 offset $3`,
);

export const productsById = statement(
  'product_by_ids',
  ['text', 'text[]'],
  columns,
  `select ${columnList} from products
   where product_id = any($2) and merchant_id = $1 and status <> 'removed'`,
);

// For many merchants' requests at once; the caller gives each its own merchant's products only.
export const productsByIdOfAll = statement(
  'product_by_ids_of_all',
  ['text[]'],
  { ...columns, merchant_id: 'text' },
  `select ${columnList}, merchant_id from products where product_id = any($1) and status <> 'removed'`,
);

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
  { ...columns, referenced: 'bool' },
  `select ${columnList}, referenced from products where merchant_id = $1 and product_id = $2 for update`,
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
  ['text', 'text', 'text', 'int8[]', 'jsonb', 'timestamptz'],
  columns,
  `update products set product_name = $2, description = $3, common_prices = $4, attributes = $5, updated_at = $6
   where product_id = $1 and status <> 'removed'
   returning ${columnList}`,
);

export const removeProductRow = statement(
  'product_remove',
  ['text', 'timestamptz'],
  {},
  `update products set status = 'removed', updated_at = $2 where product_id = $1 and not referenced`,
);
