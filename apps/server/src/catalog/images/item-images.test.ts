import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ImageWorld } from '../../../test/harness/image-world.ts';
import { sampleImage } from '../../../test/harness/sample-image.ts';
import { imageIntake } from './intake.ts';
import { type ItemImages, itemImages } from './item-images.ts';

let world: ImageWorld;
let merchantId: string;
let images: ItemImages;
let nowMs = 0;
before(async () => {
  world = await ImageWorld.open();
  merchantId = await world.addMerchant();
  images = itemImages(imageIntake(world.deps), { ...world.clock, monotonicMs: () => nowMs });
  const png = await sampleImage('png', 20, 10);
  for (let index = 0; index < 9; index += 1) world.source.serve(`/${index}.png`, png);
});
after(() => world.close());

const take = (paths: readonly string[], by = merchantId) =>
  images.take(world.database.db, { merchantId: by, urls: paths.map((path) => world.source.origin + path) });
const askedFor = (path: string) => world.source.asked.filter((asked) => asked === path).length;
const minuteMs = 60_000;

test('every image of a request is hosted and downloaded once, and failed ones are omitted', async () => {
  const paths = [0, 1, 2, 3, 4, 5, 0, 1].map((index) => `/${index}.png`);
  const found = await take([...paths, '/missing.png']);
  assert.deepEqual(
    [...found.keys()].sort(),
    [...new Set(paths)].map((path) => world.source.origin + path),
  );
  for (const hostedUrl of found.values()) assert.match(hostedUrl, /^https:\/\/pay\.example\.com\/images\//);
  assert.deepEqual([askedFor('/0.png'), askedFor('/5.png'), askedFor('/missing.png')], [1, 1, 1]);
});

test('an image is cached for ten minutes for its own merchant, and a failure for one', async () => {
  nowMs += minuteMs - 1;
  await take(['/0.png', '/missing.png']);
  assert.deepEqual([askedFor('/0.png'), askedFor('/missing.png')], [1, 1]);
  nowMs += 1;
  await take(['/0.png', '/missing.png']);
  assert.deepEqual([askedFor('/0.png'), askedFor('/missing.png')], [1, 2]);
  await take(['/0.png'], await world.addMerchant());
  assert.equal(askedFor('/0.png'), 2);
  nowMs += 9 * minuteMs;
  assert.equal((await take(['/0.png'])).size, 1);
  assert.equal(askedFor('/0.png'), 3);
});

test('images that take longer than ten seconds are omitted', async () => {
  world.source.serve('/slow.png', (response) => {
    nowMs += 10_000;
    response.writeHead(404).end();
  });
  const found = await take(['/slow.png', '/missing.png', '/6.png', '/7.png', '/8.png']);
  assert.equal(found.has(`${world.source.origin}/8.png`), false);
  assert.equal(askedFor('/8.png'), 0);
});

test('an image refused for lack of a slot is downloaded by the next request: its source has not failed', async () => {
  const shop = await world.addMerchant();
  const [first, second] = [
    ['/0.png', '/1.png', '/2.png', '/3.png'],
    ['/4.png', '/5.png'],
  ] as const;
  const found = await Promise.all([take(first, shop), take(second, shop)]);
  assert.deepEqual(
    found.map(({ size }) => size),
    [4, 0],
  );
  assert.equal((await take(second, shop)).size, 2);
});
