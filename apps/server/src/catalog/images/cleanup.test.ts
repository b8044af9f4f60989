import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ImageWorld } from '../../../test/harness/image-world.ts';
import { sampleImage } from '../../../test/harness/sample-image.ts';
import { createProduct, removeProduct, updateProduct } from '../product.ts';
import { removeUnusedImages, type SessionSearch, unusedRetentionMs } from './cleanup.ts';
import { imageIntake } from './intake.ts';
import type { ProductImage } from './product-image.ts';

let world: ImageWorld;
let merchantId: string;
before(async () => {
  world = await ImageWorld.open();
  merchantId = await world.addMerchant();
  for (const [index, path] of ['/a.png', '/b.png', '/c.png'].entries()) {
    world.source.serve(path, await sampleImage('png', 10 + index, 10));
  }
});
after(() => world.close());

const tea = { name: 'Tea', commonPrices: [1_000_000] };

async function take(path: string): Promise<ProductImage & { status: 'hosted' }> {
  const url = world.source.origin + path;
  const image = await imageIntake(world.deps).take(world.database.db, { merchantId, url });
  assert.ok(image.status === 'hosted');
  return image;
}

const create = (image: ProductImage) =>
  world.database.db.transaction((transaction) =>
    createProduct(transaction, world, { merchantId, body: tea, image }),
  );
const update = (productId: string, image: ProductImage) =>
  world.database.db.transaction((transaction) =>
    updateProduct(transaction, world, { merchantId, productId, body: tea, image }),
  );

/** Sessions in pieces, each with its snapshot as text. */
function sessionsWith(snapshots: readonly string[]): SessionSearch & { asked: bigint[] } {
  const asked: bigint[] = [];
  const search: SessionSearch = async ({ text, after }) => {
    asked.push(after);
    const snapshot = snapshots[Number(after)];
    return snapshot === undefined
      ? { isFound: false, last: undefined }
      : { isFound: snapshot.includes(text), last: after + 1n };
  };
  return Object.assign(search, { asked });
}

function clean(searchSessions: SessionSearch = sessionsWith([])): Promise<string[]> {
  const deps = { ...world.deps, db: world.database.db, searchSessions };
  return removeUnusedImages(deps, AbortSignal.timeout(60_000));
}

async function namesInStore(): Promise<string[]> {
  return [...new Set((await world.files()).map((file) => file.slice(0, 22)))].sort();
}

test('an image is removed 30 days after no product uses it any more, and not earlier', async () => {
  const [a, b, c] = [await take('/a.png'), await take('/b.png'), await take('/c.png')];
  const [one, two, gone] = [await create(a), await create(a), await create(c)];
  await update(one.productId, b);
  world.clock.time += 2 * unusedRetentionMs;
  // Products show all of them.
  assert.deepEqual(await clean(), []);
  await update(two.productId, { status: 'none' });
  await world.database.db.transaction((transaction) =>
    removeProduct(transaction, world, { merchantId, productId: gone.productId }),
  );
  world.clock.time += unusedRetentionMs;
  assert.deepEqual(await clean(), []);
  world.clock.time += 1;
  assert.deepEqual((await clean()).sort(), [a.name, c.name].sort());
  assert.deepEqual(await namesInStore(), [b.name]);
  await update(one.productId, { status: 'none' });
});

test('an image stored for a product that was never created is removed, too', async () => {
  const { name } = await take('/c.png');
  world.clock.time += unusedRetentionMs + 1;
  assert.ok((await clean()).includes(name));
  assert.deepEqual(await namesInStore(), []);
});

test('an image in the snapshot of a session is never removed, regardless of how many images were checked before it', async () => {
  const { name, url } = await take('/a.png');
  world.clock.time += unusedRetentionMs + 1;
  const sessions = sessionsWith(['{}', '{}', `{"imageUrl":"${url}"}`, '{}']);
  assert.deepEqual(await clean(sessions), []);
  assert.deepEqual(sessions.asked, [0n, 1n, 2n]);
  const again = sessionsWith([]);
  assert.deepEqual(await clean(again), []);
  assert.deepEqual([again.asked, await namesInStore()], [[], [name]]);
});

test('an interrupted search continues where it stopped, and an interrupted removal is completed', async () => {
  const { name } = await take('/b.png');
  world.clock.time += unusedRetentionMs + 1;
  const stopped = new AbortController();
  const sessions = sessionsWith(['{}', '{}', '{}']);
  const deps = { ...world.deps, db: world.database.db };
  await removeUnusedImages(
    {
      ...deps,
      searchSessions: async (search) => {
        const piece = await sessions(search);
        if (search.after === 1n) stopped.abort();
        return piece;
      },
    },
    stopped.signal,
  );
  world.isStoreAway = true;
  await assert.rejects(clean(sessions), { name: 'ImageStoreFailure' });
  assert.deepEqual(sessions.asked, [0n, 1n, 2n, 3n]);
  world.isStoreAway = false;
  // Its files may disappear at any moment: the image is no longer usable.
  const url = `${world.source.origin}/b.png`;
  const image = await imageIntake(world.deps).take(world.database.db, { merchantId, url });
  assert.deepEqual(image, {
    status: 'pending',
    sourceUrl: url,
    reason: 'an image of this content is just being removed',
  });
  assert.deepEqual(await clean(sessions), [name]);
  assert.equal((await take('/b.png')).name, name);
});
