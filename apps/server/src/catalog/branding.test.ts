import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Refusal } from '@florin/protocol/error.ts';
import { ImageWorld } from '../../test/harness/image-world.ts';
import { sampleImage } from '../../test/harness/sample-image.ts';
import { findBranding, findShownMerchant, type Logo, takeLogo, updateBranding } from './branding.ts';
import { removeUnusedImages, unusedRetentionMs } from './images/cleanup.ts';
import { imageIntake } from './images/intake.ts';

let world: ImageWorld;
let merchantId: string;
before(async () => {
  world = await ImageWorld.open();
  merchantId = await world.addMerchant();
  world.source.serve('/logo.png', await sampleImage('png', 400, 100));
  world.source.serve('/other.png', await sampleImage('png', 100, 100));
});
after(() => world.close());

const take = (url: string): Promise<Logo> =>
  takeLogo(imageIntake(world.deps), world.database.db, { merchantId, url });
const update = (logo: Logo, color: string) =>
  world.database.db.transaction((transaction) =>
    updateBranding(transaction, world, { merchantId, logo, color }),
  );
const find = () => findBranding(world.database.db, merchantId);
const clean = () => {
  const searchSessions = async () => ({ isFound: false, last: undefined });
  return removeUnusedImages(
    { ...world.deps, db: world.database.db, searchSessions },
    new AbortController().signal,
  );
};

test('branding is empty until it is set, and is replaced as a whole', async () => {
  const none = { logoUrl: '', color: '', updateAt: '' };
  assert.deepEqual(await find(), none);
  const logo = await take(`${world.source.origin}/logo.png`);
  await update(logo, '#FF8800');
  const set = { logoUrl: logo.url, color: '#ff8800', updateAt: '2030-01-01 00:00:00' };
  assert.deepEqual(await find(), set);
  assert.deepEqual(await findShownMerchant(world.database.db, merchantId), {
    merchantName: 'Images',
    logoUrl: logo.url,
    color: '#ff8800',
  });
  assert.deepEqual(await take(logo.url), logo);
  await update(await take(''), '');
  assert.deepEqual(await find(), { ...none, updateAt: '2030-01-01 00:00:00' });
});

test('a logo that cannot be downloaded is refused with the reason', async () => {
  const refused = async (url: string) => {
    const error = await take(url).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    assert.ok(error instanceof Refusal);
    return [error.slug, error.details.detail];
  };
  assert.deepEqual(await refused(`${world.source.origin}/gone.png`), [
    'field_invalid',
    'logoUrl cannot be used: answered 404',
  ]);
  assert.deepEqual(await refused('https://10.0.0.1/logo.png'), [
    'field_invalid',
    'logoUrl cannot be used: address not allowed',
  ]);
});

test('a logo in use is never removed; a replaced one is removed after its retention time', async () => {
  const [first, second] = [
    await take(`${world.source.origin}/logo.png`),
    await take(`${world.source.origin}/other.png`),
  ];
  await update(first, '');
  world.clock.time += 2 * unusedRetentionMs;
  assert.deepEqual(await clean(), [second.name]);
  await update(await take(`${world.source.origin}/other.png`), '');
  assert.deepEqual(await clean(), []);
  world.clock.time += unusedRetentionMs + 1;
  assert.deepEqual(await clean(), [first.name]);
});
