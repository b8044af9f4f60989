import { type Row, statement } from '@florin/pg';
import { pageColumns, pageParameters, pageText, wholeList } from '#db/list-page.ts';

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

/** What a merchant decides about a product. Creating and replacing it write all of it. */
const details = {
  productName: 'text',
  description: 'text',
  commonPrices: 'int8[]',
  attributes: 'jsonb',
} as const;
/** Its image, as it was hosted or refused. */
const image = {
  imageStatus: 'text',
  imageReason: 'text',
  imageName: 'text',
  imageUrl: 'text',
} as const;

export const insertProduct = statement({
  name: 'product_insert',
  parameters: { productId: 'text', merchantId: 'text', createdAt: 'timestamptz', ...details, ...image },
  columns,
  text: `insert into products (product_id, merchant_id, product_name, description, status, common_prices, attributes,
     created_at, updated_at, image_status, image_reason, image_name, image_url)
   values (:productId, :merchantId, :productName, :description, 'active', :commonPrices, :attributes, :createdAt, :createdAt, :imageStatus, :imageReason, :imageName, :imageUrl)
   returning ${columnList}`,
});
export type ProductRow = Row<typeof insertProduct>;

export const productPage = statement({
  name: 'product_page',
  parameters: pageParameters,
  columns: { ...columns, ...pageColumns },
  text: pageText({
    ...wholeList('products'),
    id: 'product_id',
    columns: columnList,
  }),
});

export const productsById = statement({
  name: 'product_by_ids',
  parameters: { merchantId: 'text', productIds: 'text[]' },
  columns,
  text: `select ${columnList} from products
   where product_id = any(:productIds) and merchant_id = :merchantId and status <> 'removed'`,
});

// PostgreSQL gives a row another xmin at each change. A reader that caches a product checks by it that the product has not
// changed.
export const versionedProductsById = statement({
  name: 'product_versioned_by_ids',
  parameters: { merchantId: 'text', productIds: 'text[]' },
  columns: { ...columns, version: 'text' },
  text: `select ${columnList}, xmin::text as version from products
   where product_id = any(:productIds) and merchant_id = :merchantId and status <> 'removed'`,
});

/** Parameters of `changedProducts`. */
export const productVersionParameters = { productIds: 'text[]', productVersions: 'text[]' } as const;

/**
 * The common table `changed_products`: the positions, from 1, of the products that changed since they were read. The
 * subquery makes each one a lookup by primary key, regardless of how many products PostgreSQL expects.
 */
export const changedProducts = `changed_products as (
    select seen.position
    from unnest(:productIds::text[], :productVersions::text[]) with ordinality as seen (product_id, version, position)
    where (select xmin::text from products where products.product_id = seen.product_id) is distinct from seen.version
  )`;

// For new links: until the link commits, its products cannot be archived or removed. The order of ids prevents deadlocks.
export const lockProductsById = statement({
  name: 'product_lock_by_ids',
  parameters: { merchantId: 'text', productIds: 'text[]' },
  columns,
  text: `select ${columnList} from products
   where product_id = any(:productIds) and merchant_id = :merchantId and status <> 'removed'
   order by product_id for update`,
});

export const markReferenced = statement({
  name: 'product_mark_referenced',
  parameters: { merchantId: 'text', productIds: 'text[]' },
  text: `update products set referenced = true where merchant_id = :merchantId and product_id = any(:productIds) and not referenced`,
});

// Includes removed products, which get an error of their own.
export const lockProduct = statement({
  name: 'product_lock',
  parameters: { merchantId: 'text', productId: 'text' },
  columns: { ...columns, referenced: 'bool', image_name: 'text' },
  text: `select ${columnList}, referenced, image_name from products where merchant_id = :merchantId and product_id = :productId for update`,
});

export const setProductStatus = statement({
  name: 'product_set_status',
  parameters: { productId: 'text', status: 'text', updatedAt: 'timestamptz' },
  columns,
  text: `update products set status = :status, updated_at = :updatedAt where product_id = :productId and status <> 'removed'
   returning ${columnList}`,
});

export const replaceProduct = statement({
  name: 'product_replace',
  parameters: { productId: 'text', updatedAt: 'timestamptz', ...details, ...image },
  columns,
  text: `update products set product_name = :productName, description = :description, common_prices = :commonPrices, attributes = :attributes, updated_at = :updatedAt,
     image_status = :imageStatus, image_reason = :imageReason, image_name = :imageName, image_url = :imageUrl
   where product_id = :productId and status <> 'removed'
   returning ${columnList}`,
});

export const setProductImage = statement({
  name: 'product_set_image',
  parameters: { productId: 'text', updatedAt: 'timestamptz', ...image },
  columns,
  text: `update products set updated_at = :updatedAt, image_status = :imageStatus, image_reason = :imageReason, image_name = :imageName, image_url = :imageUrl
   where product_id = :productId and status <> 'removed'
   returning ${columnList}`,
});

export const removeProductRow = statement({
  name: 'product_remove',
  parameters: { productId: 'text', status: 'text', updatedAt: 'timestamptz' },
  text: `update products set status = :status, updated_at = :updatedAt where product_id = :productId and not referenced`,
});
