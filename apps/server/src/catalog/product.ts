import type { Queryable, Row, Transaction } from '@florin/pg';
import { Refusal } from '@florin/protocol/error.ts';
import type { EventType } from '@florin/protocol/event.ts';
import { newId } from '@florin/protocol/id.ts';
import type { ProductData } from '@florin/protocol/line-item.ts';
import { moveIn } from '@florin/protocol/machine.ts';
import type { Product, ProductCreateBody } from '@florin/protocol/product.ts';
import { formatTimestamp } from '@florin/protocol/timestamp.ts';
import { type ListPage, type ListRequest, pageValues, readPage } from '#db/list-page.ts';
import { emit, type ProductEvent } from '#webhooks/outbox.ts';
import type { CatalogContext } from './context.ts';
import {
  imageStatusOf,
  imageValues,
  noImage,
  type ProductImage,
  replaceImage,
} from './images/product-image.ts';
import { type ProductStatus, type ProductTrigger, productMoves } from './product.machine.ts';
import {
  insertProduct,
  lockProduct,
  lockProductsById,
  markReferenced,
  type ProductRow,
  productPage,
  productsById,
  removeProductRow,
  replaceProduct,
  setProductImage,
  setProductStatus,
  versionedProductsById,
} from './product.sql.ts';

// For rooms whose own statement checks that products have not changed since they were read.
export { changedProducts, productVersionParameters } from './product.sql.ts';

/** The fields of a product that line items need: status, prices in Micro-USD, and the content for payers. */
export interface ItemProduct {
  readonly productId: string;
  readonly status: 'active' | 'archived';
  readonly commonPrices: readonly number[];
  readonly productData: ProductData;
}

/**
 * Creates a product, with its event. The body has been checked against its schema. Its imageUrl is ignored, because payers
 * see images of our own origin only: `image` is the result of hosting it.
 */
export async function createProduct(
  transaction: Transaction,
  deps: CatalogContext,
  request: { merchantId: string; body: ProductCreateBody; image?: ProductImage },
): Promise<Product> {
  const { merchantId, body, image = noImage } = request;
  const now = deps.clock.now();
  const productId = newId('product', deps.random.bytes);
  const rows = await transaction.query(insertProduct, {
    productId,
    merchantId,
    ...bodyValues(body),
    createdAt: now,
    ...imageValues(image),
  });
  if (image.status === 'pending') {
    await replaceImage(transaction, { merchantId, productId, oldName: '', at: now }, image);
  }
  const created = productOf(onlyRow(rows));
  await emit(transaction, deps, [productEvent(merchantId, 'product.created', created, now)]);
  return created;
}

/** One page of the merchant's products, archived ones included, newest first, with the exact total. */
export async function listProducts(
  queryable: Queryable,
  request: ListRequest,
): Promise<{ place: ListPage; products: Product[] }> {
  const found = await queryable.query(productPage, pageValues(request));
  const { place, rows } = readPage(found, request.size, (row) => row.product_id);
  return { place, products: rows.map(productOf) };
}

/** The merchant's products with these ids, each once, in the order of the ids. Unknown ids are left out. */
export async function productsByIds(
  queryable: Queryable,
  request: { merchantId: string; productIds: readonly string[] },
): Promise<Product[]> {
  const rows = await queryable.query(productsById, request);
  const found = new Map(rows.map((row) => [row.product_id, productOf(row)]));
  return [...new Set(request.productIds)].flatMap((productId) => found.get(productId) ?? []);
}

/** The merchant's products with these ids, as line items need them. Unknown and removed ones are left out. */
export async function productsForItems(
  queryable: Queryable,
  merchantId: string,
  productIds: readonly string[],
): Promise<Map<string, ItemProduct>> {
  const rows = await queryable.query(productsById, { merchantId, productIds });
  return new Map(rows.map((row) => [row.product_id, itemProductOf(row)]));
}

/** A product as line items need it, with the version of its row. */
export interface VersionedProduct extends ItemProduct {
  readonly version: string;
}

/** The same with their versions. */
export async function versionedProducts(
  queryable: Queryable,
  merchantId: string,
  productIds: readonly string[],
): Promise<Map<string, VersionedProduct>> {
  const rows = await queryable.query(versionedProductsById, { merchantId, productIds });
  return new Map(rows.map((row) => [row.product_id, { ...itemProductOf(row), version: row.version }]));
}

/**
 * The same for a new link. The products stay locked until the transaction ends, and can never be removed from now on.
 */
export async function referenceProducts(
  transaction: Transaction,
  merchantId: string,
  productIds: readonly string[],
): Promise<Map<string, ItemProduct>> {
  const rows = await transaction.query(lockProductsById, { merchantId, productIds });
  await transaction.query(markReferenced, { merchantId, productIds });
  return new Map(rows.map((row) => [row.product_id, itemProductOf(row)]));
}

/**
 * Archives or unarchives a product, with its event. Undefined, without an event, when it has that status already. Its links
 * stay as they are: `archiveProduct` of the room links disables them. Refuses with 100301 or 100306.
 */
export async function moveProduct(
  transaction: Transaction,
  deps: CatalogContext,
  request: { merchantId: string; productId: string; trigger: 'archive' | 'unarchive' },
): Promise<Product | undefined> {
  const { merchantId, productId, trigger } = request;
  const { to, event } = moveOf(await lockOwn(transaction, merchantId, productId), trigger);
  if (event === undefined) return undefined;
  const now = deps.clock.now();
  const moved = productOf(
    onlyRow(await transaction.query(setProductStatus, { productId, status: to, updatedAt: now })),
  );
  await emit(transaction, deps, [productEvent(merchantId, event, moved, now)]);
  return moved;
}

/**
 * Replaces every field of a product, its image included, with its event. Omitted fields are reset. The links that show it get
 * a new version. Refuses with 100301 or 100306, and with 100307 one that changed since `ifUpdateAt`.
 */
export async function updateProduct(
  transaction: Transaction,
  deps: CatalogContext,
  request: {
    merchantId: string;
    productId: string;
    body: ProductCreateBody;
    image?: ProductImage;
    ifUpdateAt?: string | undefined;
  },
): Promise<Product> {
  const { merchantId, productId, body, image = noImage, ifUpdateAt } = request;
  const before = await lockOwn(transaction, merchantId, productId);
  if (ifUpdateAt !== undefined && formatTimestamp(before.updated_at) !== ifUpdateAt)
    throw new Refusal('product_changed', `${productId} has changed since it was read`);
  const now = deps.clock.now();
  const rows = await transaction.query(replaceProduct, {
    productId,
    ...bodyValues(body),
    updatedAt: now,
    ...imageValues(image),
  });
  return announceUpdate(transaction, deps, { merchantId, before, row: onlyRow(rows), image, at: now });
}

/**
 * Ends a product's wait for an image, with or without one, and with its event. `isAwaited` is called when the product is
 * locked. Undefined, without an event, for a product that is removed or no longer waits for this image.
 */
export async function settleProductImage(
  transaction: Transaction,
  deps: CatalogContext,
  request: {
    merchantId: string;
    productId: string;
    image: ProductImage;
    isAwaited: (transaction: Transaction) => Promise<boolean>;
  },
): Promise<Product | undefined> {
  const { merchantId, productId, image } = request;
  const before = (await transaction.query(lockProduct, { merchantId, productId }))[0];
  if (before === undefined || before.status === 'removed') return undefined;
  if (!(await request.isAwaited(transaction))) return undefined;
  const now = deps.clock.now();
  const rows = await transaction.query(setProductImage, { productId, updatedAt: now, ...imageValues(image) });
  return announceUpdate(transaction, deps, { merchantId, before, row: onlyRow(rows), image, at: now });
}

function bodyValues(body: ProductCreateBody) {
  return {
    productName: body.name,
    description: body.description ?? '',
    commonPrices: body.commonPrices.map(BigInt),
    attributes: JSON.stringify(body.attributes ?? []),
  };
}

/** Ends every change of a product: updates its images and emits its event. */
async function announceUpdate(
  transaction: Transaction,
  deps: CatalogContext,
  change: {
    merchantId: string;
    before: { readonly image_name: string };
    row: ProductRow;
    image: ProductImage;
    at: Date;
  },
): Promise<Product> {
  const { merchantId, before, row, image, at } = change;
  const place = { merchantId, productId: row.product_id, oldName: before.image_name, at };
  await replaceImage(transaction, place, image);
  const updated = productOf(row);
  await emit(transaction, deps, [productEvent(merchantId, 'product.updated', updated, at)]);
  return updated;
}

/**
 * Removes a product permanently, with its event. Refuses a product that a payment link ever referenced (100305), an unknown
 * one (100301) and a removed one (100306).
 */
export async function removeProduct(
  transaction: Transaction,
  deps: CatalogContext,
  request: { merchantId: string; productId: string },
): Promise<void> {
  const { merchantId, productId } = request;
  const row = await lockOwn(transaction, merchantId, productId);
  if (row.referenced) throw new Refusal('product_used', productId);
  const { to } = moveOf(row, 'remove');
  const now = deps.clock.now();
  await transaction.query(removeProductRow, { productId, status: to, updatedAt: now });
  await replaceImage(transaction, { merchantId, productId, oldName: row.image_name, at: now }, noImage);
  const removed = { ...productOf(row), updateAt: formatTimestamp(now) };
  await emit(transaction, deps, [productEvent(merchantId, 'product.removed', removed, now)]);
}

/** The move of a locked product. Refuses (100306) when there is none. */
function moveOf(row: { readonly product_id: string; readonly status: string }, trigger: ProductTrigger) {
  // A check constraint of the schema guarantees the type.
  const move = moveIn(productMoves, row.status as ProductStatus, trigger);
  if (move === undefined) throw new Refusal('product_removed', row.product_id);
  return move;
}

/** The merchant's product with its row locked. Refuses with 100301 or 100306. */
async function lockOwn(
  transaction: Transaction,
  merchantId: string,
  productId: string,
): Promise<Row<typeof lockProduct>> {
  const row = (await transaction.query(lockProduct, { merchantId, productId }))[0];
  if (row === undefined) throw new Refusal('product_not_found', productId);
  if (row.status === 'removed') throw new Refusal('product_removed', productId);
  return row;
}

function productEvent(merchantId: string, type: EventType, shown: Product, at: Date): ProductEvent {
  return {
    ownerId: merchantId,
    type,
    objectId: shown.productId,
    dataJson: JSON.stringify({ product: shown }),
    at,
  };
}

function onlyRow(rows: readonly ProductRow[]): ProductRow {
  const row = rows[0];
  if (row === undefined || rows.length > 1)
    throw new Error(`a product statement touched ${rows.length} rows`);
  return row;
}

function statusOf(row: ProductRow): 'active' | 'archived' {
  if (row.status !== 'active' && row.status !== 'archived') throw new Error(`a product is ${row.status}`);
  return row.status;
}

function productOf(row: ProductRow): Product {
  return {
    productId: row.product_id,
    name: row.product_name,
    description: row.description,
    imageUrl: row.image_url,
    imageStatus: imageStatusOf(row.image_status),
    imageReason: row.image_reason,
    status: statusOf(row),
    commonPrices: row.common_prices.map(Number),
    attributes: row.attributes as Product['attributes'],
    createAt: formatTimestamp(row.created_at),
    updateAt: formatTimestamp(row.updated_at),
  };
}

function itemProductOf(row: ProductRow): ItemProduct {
  return {
    productId: row.product_id,
    status: statusOf(row),
    commonPrices: row.common_prices.map(Number),
    productData: {
      productName: row.product_name,
      productDescription: row.description,
      imageUrl: row.image_url,
      attributes: row.attributes as ProductData['attributes'],
    },
  };
}
