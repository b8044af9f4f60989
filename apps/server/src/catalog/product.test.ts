import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { statement } from '@florin/pg';
import type { ProductCreateBody } from '@florin/protocol/product.ts';
import { systemClock } from '#outside/clock.ts';
import { systemRandom } from '#outside/random.ts';
import { type TestDatabase, testDatabase } from '../../test/harness/database.ts';
import {
  createProduct,
  listProducts,
  moveProduct,
  productsByIds,
  productsForItems,
  referenceProducts,
} from './product.ts';

const now = new Date('2026-03-04T05:06:07.000Z');
const deps = { random: systemRandom, clock: { ...systemClock, now: () => now } };
const merchantId = 'mer_a';

const addMerchant = statement({
  name: 'test_product_merchant',
  parameters: { merchantId: 'text' },
  text: `insert into merchants (merchant_id, merchant_name, created_at) values (:merchantId, :merchantId, now())`,
});
const clear = statement({
  name: 'test_product_clear',
  text: 'truncate products, events, list_totals, list_total_changes cascade',
});
const events = statement({
  name: 'test_product_events',
  columns: { event_type: 'text', object_id: 'text', body: 'text' },
  text: 'select event_type, object_id, body from events order by ordinal',
});
const referenced = statement({
  name: 'test_product_referenced',
  columns: { product_id: 'text' },
  text: 'select product_id from products where referenced',
});
const remove = statement({
  name: 'test_product_remove',
  parameters: { productId: 'text' },
  text: `update products set status = 'removed' where product_id = :productId`,
});

let database: TestDatabase;
before(async () => {
  database = await testDatabase();
  await database.db.query(addMerchant, { merchantId });
  await database.db.query(addMerchant, { merchantId: 'mer_b' });
});
after(() => database.close());
beforeEach(async () => {
  await database.db.query(clear);
});

function create(body: Partial<ProductCreateBody> = {}, owner = merchantId) {
  return database.db.transaction((transaction) =>
    createProduct(transaction, deps, {
      merchantId: owner,
      body: { name: 'Tea', commonPrices: [1_500_000], ...body },
    }),
  );
}

test('a new product is active and complete, and raises its event', async () => {
  const created = await create({
    description: 'Black',
    imageUrl: '',
    commonPrices: [1, 10_000_000_000_000],
    attributes: [
      { name: 'size', value: 'L' },
      { name: 'colour', value: '' },
    ],
  });
  const { productId } = created;
  assert.deepEqual(created, {
    productId,
    name: 'Tea',
    description: 'Black',
    imageUrl: '',
    imageStatus: 'none',
    imageReason: '',
    status: 'active',
    commonPrices: [1, 10_000_000_000_000],
    attributes: [
      { name: 'size', value: 'L' },
      { name: 'colour', value: '' },
    ],
    createAt: '2026-03-04 05:06:07',
    updateAt: '2026-03-04 05:06:07',
  });
  assert.match(productId, /^prd_[0-9A-Za-z]{22}$/);
  assert.deepEqual(await productsByIds(database.db, { merchantId, productIds: [productId] }), [created]);
  const [event] = await database.db.query(events);
  assert.deepEqual([event?.event_type, event?.object_id], ['product.created', productId]);
  assert.deepEqual(JSON.parse(event?.body ?? '').data, { product: created });
});

// proves W1.11
test("lists show one merchant's products newest first, even within one second, with the exact total", async () => {
  const ids: string[] = [];
  for (let index = 0; index < 5; index += 1) ids.push((await create({ name: `Tea ${index}` })).productId);
  await create({}, 'mer_b');
  const pages = await Promise.all(
    [1, 2, 3].map((page) => listProducts(database.db, { merchantId, page, size: 2 })),
  );
  assert.deepEqual(
    pages.map(({ place, products }) => [place.total, products.map(({ productId }) => productId)]),
    [
      [5, [ids[4], ids[3]]],
      [5, [ids[2], ids[1]]],
      [5, [ids[0]]],
    ],
  );
  const whole = await listProducts(database.db, { merchantId, page: 1, size: 100 });
  assert.deepEqual(
    whole.products.map(({ productId }) => productId),
    ids.toReversed(),
  );
  assert.deepEqual(await listProducts(database.db, { merchantId, page: 1_000_000_000, size: 100 }), {
    place: { total: 5, hasMore: false, nextCursor: '' },
    products: [],
  });
});

// proves S4.6, S7.7, W2.6
test('reading by ids keeps the requested order and omits unknown, foreign and removed products', async () => {
  const first = await create();
  const second = await create();
  const gone = await create();
  const foreign = await create({}, 'mer_b');
  await database.db.query(remove, { productId: gone.productId });
  const productIds = [second, foreign, gone, first, second].map(({ productId }) => productId);
  assert.deepEqual(
    await productsByIds(database.db, { merchantId, productIds: ['prd_none', ...productIds] }),
    [second, first],
  );
  assert.equal((await listProducts(database.db, { merchantId, page: 1, size: 10 })).place.total, 2);
});

test('line items contain what payers see of a product', async () => {
  const { productId } = await create({ description: 'Black', attributes: [{ name: 'a', value: 'b' }] });
  assert.deepEqual(
    await productsForItems(database.db, merchantId, [productId, 'prd_none']),
    new Map([
      [
        productId,
        {
          productId,
          status: 'active',
          commonPrices: [1_500_000],
          productData: {
            productName: 'Tea',
            productDescription: 'Black',
            imageUrl: '',
            attributes: [{ name: 'a', value: 'b' }],
          },
        },
      ],
    ]),
  );
  assert.deepEqual(await productsForItems(database.db, 'mer_b', [productId]), new Map());
});

// proves W1.33
test('archiving and unarchiving each change a product once, with one event', async () => {
  const { productId } = await create();
  const move = (trigger: 'archive' | 'unarchive') =>
    database.db.transaction((transaction) =>
      moveProduct(transaction, deps, { merchantId, productId, trigger }),
    );
  assert.equal((await move('archive'))?.status, 'archived');
  assert.equal(await move('archive'), undefined);
  assert.equal((await move('unarchive'))?.status, 'active');
  assert.equal(await move('unarchive'), undefined);
  const rows = await database.db.query(events);
  assert.deepEqual(
    rows.map(({ event_type }) => event_type),
    ['product.created', 'product.archived', 'product.unarchived'],
  );
});

// proves W2.6
test('a foreign product is not found, and a removed one is reported as removed', async () => {
  const { productId } = await create();
  const archive = (owner: string) =>
    database.db.transaction((transaction) =>
      moveProduct(transaction, deps, { merchantId: owner, productId, trigger: 'archive' }),
    );
  await assert.rejects(archive('mer_b'), { slug: 'product_not_found' });
  await database.db.query(remove, { productId });
  await assert.rejects(archive(merchantId), { slug: 'product_removed' });
});

// proves S4.8
test('a product that a link has referenced stays marked as referenced', async () => {
  const { productId } = await create();
  await create();
  await database.db.transaction((transaction) => referenceProducts(transaction, merchantId, [productId]));
  assert.deepEqual(await database.db.query(referenced), [{ product_id: productId }]);
});
