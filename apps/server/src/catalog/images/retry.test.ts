import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { statement } from '@florin/pg';
import type { Product } from '@florin/protocol/product.ts';
import { deepOnly } from '../../../test/harness/deep-only.ts';
import { ImageWorld } from '../../../test/harness/image-world.ts';
import { sampleImage } from '../../../test/harness/sample-image.ts';
import { createProduct, productsByIds, removeProduct, updateProduct } from '../product.ts';
import type { ProductImage } from './product-image.ts';
import { retryDelaysMs } from './product-image.ts';
import { retryOneImage } from './retry.ts';

const eventTypes = statement({
  name: 'image_retry_test_events',
  parameters: { objectId: 'text' },
  columns: { event_type: 'text', body: 'text' },
  text: 'select event_type, body from events where object_id = :objectId order by sequence',
});

const hour = 3_600_000;
let world: ImageWorld;
let merchantId: string;
before(async () => {
  world = await ImageWorld.open();
  merchantId = await world.addMerchant();
});
after(() => world.close());

const retry = () => retryOneImage({ ...world.deps, db: world.database.db, random: world.random });
const tea = { name: 'Tea', commonPrices: [1_000_000] };

/** A product that waits for an image from the source. */
async function waiting(path: string): Promise<string> {
  const image: ProductImage = {
    status: 'pending',
    sourceUrl: world.source.origin + path,
    reason: 'answered 404',
  };
  const product = await world.database.db.transaction((transaction) =>
    createProduct(transaction, world, { merchantId, body: tea, image }),
  );
  return product.productId;
}

async function read(productId: string): Promise<Product | undefined> {
  return (await productsByIds(world.database.db, { merchantId, productIds: [productId] }))[0];
}

async function imageOf(productId: string): Promise<unknown> {
  const product = await read(productId);
  return { status: product?.imageStatus, reason: product?.imageReason, hasUrl: product?.imageUrl !== '' };
}

async function eventsOf(productId: string): Promise<string[]> {
  return (await world.database.db.query(eventTypes, { objectId: productId })).map((row) => row.event_type);
}

// proves W6.33
test('an image that becomes available later is hosted, with an event that shows it', async () => {
  const productId = await waiting('/late.png');
  assert.equal(await retry(), false);
  world.clock.time += 60_000;
  assert.equal(await retry(), true);
  assert.deepEqual(await imageOf(productId), { status: 'pending', reason: 'answered 404', hasUrl: false });
  world.source.serve('/late.png', await sampleImage('jpeg', 20, 20));
  assert.equal(await retry(), false);
  world.clock.time += 600_000;
  assert.equal(await retry(), true);
  assert.deepEqual(await imageOf(productId), { status: 'hosted', reason: '', hasUrl: true });
  const events = await world.database.db.query(eventTypes, { objectId: productId });
  assert.deepEqual(
    events.map((row) => row.event_type),
    ['product.created', 'product.updated'],
  );
  assert.deepEqual(JSON.parse(events[1]?.body ?? '').data, { product: await read(productId) });
  world.clock.time += 30 * hour;
  assert.equal(await retry(), false);
});

// proves W6.33
test('after five tries in 24 hours the image is given up, with an event', async () => {
  const productId = await waiting('/never.png');
  const asked = world.source.asked.length;
  const started = world.clock.time;
  for (const [index, delayMs] of retryDelaysMs.entries()) {
    world.clock.time += delayMs - 1;
    assert.equal(await retry(), false);
    world.clock.time += 1;
    assert.deepEqual(await imageOf(productId), { status: 'pending', reason: 'answered 404', hasUrl: false });
    assert.equal(await retry(), true, `try ${index + 1}`);
  }
  assert.equal(world.clock.time - started, 24 * hour + 11 * 60_000);
  assert.deepEqual(await imageOf(productId), { status: 'failed', reason: 'answered 404', hasUrl: false });
  assert.deepEqual(await eventsOf(productId), ['product.created', 'product.updated']);
  world.clock.time += 30 * hour;
  assert.equal(await retry(), false);
  assert.equal(world.source.asked.length - asked, 5);
});

test('an update or a removal of the product ends its retries', async () => {
  world.source.serve('/old.png', await sampleImage('png', 5, 5));
  const [updated, removed] = [await waiting('/old.png'), await waiting('/old.png')];
  await world.database.db.transaction((transaction) =>
    updateProduct(transaction, world, { merchantId, productId: updated, body: tea }),
  );
  await world.database.db.transaction((transaction) =>
    removeProduct(transaction, world, { merchantId, productId: removed }),
  );
  world.clock.time += hour;
  assert.equal(await retry(), false);
  assert.deepEqual(await imageOf(updated), { status: 'none', reason: '', hasUrl: false });
});

test('a try that ends after an update changes nothing', async () => {
  const productId = await waiting('/race.png');
  const bytes = await sampleImage('png', 6, 6);
  const { promise: isAsked, resolve: noteAsked } = Promise.withResolvers<() => void>();
  world.source.serve('/race.png', (response) => noteAsked(() => response.end(bytes)));
  world.clock.time += 60_000;
  const trying = retry();
  const answer = await isAsked;
  const image: ProductImage = { status: 'failed', reason: 'of the update' };
  await world.database.db.transaction((transaction) =>
    updateProduct(transaction, world, { merchantId, productId, body: tea, image }),
  );
  answer();
  assert.equal(await trying, true);
  assert.deepEqual(await imageOf(productId), { status: 'failed', reason: 'of the update', hasUrl: false });
  assert.deepEqual(await eventsOf(productId), ['product.created', 'product.updated']);
});

test('an unavailable store costs no try; two workers share the due images', deepOnly, async () => {
  world.source.serve('/there.png', await sampleImage('png', 7, 7));
  const first = await waiting('/there.png');
  world.isStoreAway = true;
  for (let minute = 0; minute < 10; minute += 1) {
    world.clock.time += 60_000;
    assert.equal(await retry(), true);
  }
  world.isStoreAway = false;
  world.clock.time += 60_000;
  const second = await waiting('/there.png');
  world.clock.time += 60_000;
  assert.deepEqual(await Promise.all([retry(), retry(), retry()]).then((done) => done.sort()), [
    false,
    true,
    true,
  ]);
  for (const productId of [first, second]) {
    assert.deepEqual(await imageOf(productId), { status: 'hosted', reason: '', hasUrl: true });
  }
});
