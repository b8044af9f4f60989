import type { Queryable, Row, Transaction } from '@florin/pg';
import { Refusal } from '@florin/protocol/error.ts';
import type { EventType } from '@florin/protocol/event.ts';
import { newId } from '@florin/protocol/id.ts';
import type { ProductData } from '@florin/protocol/line-item.ts';
import type { Product, ProductCreateBody } from '@florin/protocol/product.ts';
import { formatTimestamp } from '@florin/protocol/schema.ts';
import { type ListPage, type PageRequest, pageValues, readPage } from '#db/list-page.ts';
import type { Clock } from '#outside/clock.ts';
import type { Random } from '#outside/random.ts';
import { emit, type OutboxEvent } from '#webhooks/outbox.ts';
import {
  followImage,
  imageStatusOf,
  imageValues,
  noImage,
  type ProductImage,
} from './images/product-image.ts';
import { type ProductStatus, type ProductTrigger, productMove } from './product.machine.ts';
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

// For rooms that ask in their own statement whether products are still as they were read.
export { changedProducts, productVersionParameters } from './product.sql.ts';

export interface CatalogDeps {
  readonly clock: Clock;
  readonly random: Random;
}

/** What line items take from a product: its state, its prices in Micro-USD, and what payers are shown. */
export interface ItemProduct {
  readonly productId: string;
  readonly status: 'active' | 'archived';
  readonly commonPrices: readonly number[];
  readonly productData: ProductData;
}

/**
 * Creates a product, with its event. The body has been checked against its schema. Its imageUrl is not looked at: only
 * images of our own origin are ever shown to payers, and `image` says what became of it; without it there is none.
 */
export async function createProduct(
  transaction: Transaction,
  deps: CatalogDeps,
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
    await followImage(transaction, { merchantId, productId, oldName: '', at: now }, image);
  }
  const created = productOf(onlyRow(rows));
  await emit(transaction, deps.random, [productEvent(merchantId, 'product.created', created, now)]);
  return created;
}

/** One page of the merchant's products, newest first, archived ones too, with the exact total. */
export async function listProducts(
  queryable: Queryable,
  request: PageRequest,
): Promise<{ place: ListPage; products: Product[] }> {
  const found = await queryable.query(productPage, pageValues(request));
  const { place, rows } = readPage(found, request.size, (row) => row.product_id);
  return { place, products: rows.map(productOf) };
}

/** The merchant's products of these ids, in the order asked for, each once; others are left out. */
export async function productsByIds(
  queryable: Queryable,
  request: { merchantId: string; productIds: readonly string[] },
): Promise<Product[]> {
  const rows = await queryable.query(productsById, {
    merchantId: request.merchantId,
    productIds: request.productIds,
  });
  const found = new Map(rows.map((row) => [row.product_id, productOf(row)]));
  return [...new Set(request.productIds)].flatMap((productId) => found.get(productId) ?? []);
}

/** The merchant's products of these ids, as line items take them; unknown and removed ones are left out. */
export async function productsForItems(
  queryable: Queryable,
  merchantId: string,
  productIds: readonly string[],
): Promise<Map<string, ItemProduct>> {
  const rows = await queryable.query(productsById, { merchantId, productIds });
  return new Map(rows.map((row) => [row.product_id, itemProductOf(row)]));
}

/** A product as a line item takes it, and what its row is recognized by until it changes. */
export interface VersionedProduct extends ItemProduct {
  readonly version: string;
}

/** The same with the version of each. */
export async function versionedProducts(
  queryable: Queryable,
  merchantId: string,
  productIds: readonly string[],
): Promise<Map<string, VersionedProduct>> {
  const rows = await queryable.query(versionedProductsById, { merchantId, productIds });
  return new Map(rows.map((row) => [row.product_id, { ...itemProductOf(row), version: row.version }]));
}

/**
 * The same for a new link: the products stay locked until the transaction ends and count as referenced by a link from
 * now on, which forbids their removal for good.
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
 * Archives or unarchives a product, with its event; undefined, and no event, when it is in that state already. Leaves
 * links alone: archiving with its links is `archiveProduct` of the room links. Refuses with 100301 or 100306.
 */
export async function moveProduct(
  transaction: Transaction,
  deps: CatalogDeps,
  request: { merchantId: string; productId: string; trigger: 'archive' | 'unarchive' },
): Promise<Product | undefined> {
  const { merchantId, productId, trigger } = request;
  const { to, event } = moveOf(await lockOwn(transaction, merchantId, productId), trigger);
  if (event === undefined) return undefined;
  const now = deps.clock.now();
  const moved = productOf(
    onlyRow(await transaction.query(setProductStatus, { productId, status: to, updatedAt: now })),
  );
  await emit(transaction, deps.random, [productEvent(merchantId, event, moved, now)]);
  return moved;
}

/**
 * Replaces every field of a product, its image too, with its event; fields left out are reset. The links that show it
 * move to a new version. Refuses with 100301 or 100306.
 */
export async function updateProduct(
  transaction: Transaction,
  deps: CatalogDeps,
  request: { merchantId: string; productId: string; body: ProductCreateBody; image?: ProductImage },
): Promise<Product> {
  const { merchantId, productId, body, image = noImage } = request;
  const before = await lockOwn(transaction, merchantId, productId);
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
 * Gives a product the image that was waited for, or gives up on it, with its event; `isAwaited` is asked once the
 * product is locked. Undefined, and no event, for a product that is removed or awaits no such image any more.
 */
export async function settleProductImage(
  transaction: Transaction,
  deps: CatalogDeps,
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

/** What every change of a product ends with: its images are kept or let go, and its event is raised. */
async function announceUpdate(
  transaction: Transaction,
  deps: CatalogDeps,
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
  await followImage(transaction, place, image);
  const updated = productOf(row);
  await emit(transaction, deps.random, [productEvent(merchantId, 'product.updated', updated, at)]);
  return updated;
}

/**
 * Removes a product for good, with its event. Refuses one that any payment link ever referenced (100305), an unknown
 * one (100301), and one that is removed already (100306).
 */
export async function removeProduct(
  transaction: Transaction,
  deps: CatalogDeps,
  request: { merchantId: string; productId: string },
): Promise<void> {
  const { merchantId, productId } = request;
  const row = await lockOwn(transaction, merchantId, productId);
  if (row.referenced) throw new Refusal('product_used', productId);
  const { to } = moveOf(row, 'remove');
  const now = deps.clock.now();
  await transaction.query(removeProductRow, { productId, status: to, updatedAt: now });
  await followImage(transaction, { merchantId, productId, oldName: row.image_name, at: now }, noImage);
  const removed = { ...productOf(row), updateAt: formatTimestamp(now) };
  await emit(transaction, deps.random, [productEvent(merchantId, 'product.removed', removed, now)]);
}

/** The move of a locked product; 100306 when it has no such move. */
function moveOf(row: { readonly product_id: string; readonly status: string }, trigger: ProductTrigger) {
  // The schema's check constraint is what makes the narrowing true.
  const move = productMove(row.status as ProductStatus, trigger);
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

function productEvent(merchantId: string, type: EventType, shown: Product, at: Date): OutboxEvent {
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
