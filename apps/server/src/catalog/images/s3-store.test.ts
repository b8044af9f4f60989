import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { type S3Fake, startS3Fake } from '../../../test/harness/s3-fake.ts';
import { type ImageStore, ImageStoreFailure } from './image-store.ts';
import { type S3StoreOptions, s3Store } from './s3-store.ts';

const credentials = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
};
const bucket = { region: 'eu-central-1', bucket: 'florin-images' };
const file = `${'a'.repeat(22)}-96.webp`;
const bytes = new Uint8Array([1, 2, 3]);

let fake: S3Fake;
const stores: ImageStore[] = [];
before(async () => {
  fake = await startS3Fake({ ...credentials, ...bucket });
});
beforeEach(() => fake.fail(undefined));
after(async () => {
  await Promise.all(stores.map((store) => store.close()));
  await fake.close();
});

function storeWith(change: Partial<S3StoreOptions> = {}): ImageStore {
  const store = s3Store({
    ...bucket,
    credentials,
    endpoint: fake.endpoint,
    prefix: 'shop/',
    ...change,
  });
  stores.push(store);
  return store;
}

test('a stored object is read until it is removed, and every request is signed', async () => {
  const store = storeWith();
  assert.equal(await store.read(file), undefined);
  await store.put(file, bytes);
  await store.put(file, bytes);
  assert.deepEqual([...fake.objects.keys()], [`/florin-images/shop/${file}`]);
  assert.deepEqual(new Uint8Array((await store.read(file)) ?? []), bytes);
  await store.remove(file);
  await store.remove(file);
  assert.equal(await store.read(file), undefined);
  assert.equal(fake.refusedCount(), 0);
});

test('a request with a wrong key or region is a store failure', async () => {
  const before = fake.refusedCount();
  const wrongKey = { credentials: { ...credentials, secretAccessKey: 'wrong' } };
  for (const change of [wrongKey, { region: 'us-east-1' }]) {
    await assert.rejects(
      storeWith(change).put(file, bytes),
      new ImageStoreFailure('the image store answered PUT with 403'),
    );
  }
  assert.equal(fake.refusedCount(), before + 2);
  assert.equal(fake.objects.size, 0);
});

test('a request that fails once is repeated, and a second failure is final', async () => {
  const store = storeWith();
  fake.fail(503);
  const before = fake.requestCount();
  await assert.rejects(
    store.put(file, bytes),
    new ImageStoreFailure('the image store answered PUT with 503'),
  );
  await assert.rejects(store.read(file), new ImageStoreFailure('the image store answered GET with 503'));
  await assert.rejects(store.remove(file), new ImageStoreFailure('the image store answered DELETE with 503'));
  assert.equal(fake.requestCount(), before + 6);
});

test('an unavailable store is a store failure', async () => {
  const away = storeWith({ endpoint: 'http://127.0.0.1:1' });
  await assert.rejects(away.put(file, bytes), ImageStoreFailure);
  await assert.rejects(away.read(file), ImageStoreFailure);
});
