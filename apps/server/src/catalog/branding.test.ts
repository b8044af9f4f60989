import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { plainLook } from '@florin/protocol/brand-look.ts';
import type { BrandLook } from '@florin/protocol/branding.ts';
import { Refusal } from '@florin/protocol/error.ts';
import { noBrandImages, updateBranding } from '../../test/harness/brand.ts';
import { ImageWorld } from '../../test/harness/image-world.ts';
import { sampleImage } from '../../test/harness/sample-image.ts';
import {
  type BrandImage,
  type BrandImages,
  findBranding,
  findShownMerchant,
  takeBrandImages,
} from './branding.ts';
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

const take = async (url: string): Promise<BrandImage> => {
  const request = { merchantId, urls: { logoUrl: url } };
  const { logo } = await takeBrandImages(imageIntake(world.deps), world.database.db, request);
  return logo ?? assert.fail('no logo');
};
const replace = (images: Partial<BrandImages>, look: Partial<BrandLook>, ifUpdateAt?: string) =>
  world.database.db.transaction((transaction) =>
    updateBranding(transaction, world, {
      ...{ merchantId, look, ifUpdateAt },
      images: { ...noBrandImages, ...images },
    }),
  );
const update = (logo: BrandImage, color: string) => replace({ logo }, { color });
const find = () => findBranding(world.database.db, merchantId);
const clean = () => {
  const searchSessions = async () => ({ isFound: false, last: undefined });
  return removeUnusedImages(
    { ...world.deps, db: world.database.db, searchSessions },
    new AbortController().signal,
  );
};

test('branding is empty until it is set, and is replaced as a whole', async () => {
  const none = { logoUrl: '', darkLogoUrl: '', iconUrl: '', ...plainLook, embedOrigins: [], updateAt: '' };
  assert.deepEqual(await find(), none);
  const logo = await take(`${world.source.origin}/logo.png`);
  await update(logo, '#FF8800');
  const set = { ...none, logoUrl: logo.url, color: '#ff8800', updateAt: '2030-01-01 00:00:00' };
  assert.deepEqual(await find(), set);
  const { updateAt: _at, ...look } = set;
  assert.deepEqual(await findShownMerchant(world.database.db, merchantId), {
    merchantName: 'Images',
    ...look,
  });
  assert.deepEqual(await take(logo.url), logo);
  const other = await take(`${world.source.origin}/other.png`);
  const whole = {
    ...{
      color: '#112233',
      background: '#f0f0f0',
      cornerRadius: 4,
      font: 'serif' as const,
      legalName: 'Tea House GmbH',
    },
    ...{ supportUrl: 'https://a.example/s', termsUrl: 'https://a.example/t' },
    ...{ refundUrl: 'https://a.example/r', privacyUrl: 'https://a.example/p' },
  } as const;
  await replace({ darkLogo: logo, icon: other }, { ...whole, background: '#F0F0F0' });
  const images = { logoUrl: '', darkLogoUrl: logo.url, iconUrl: other.url, embedOrigins: [] };
  assert.deepEqual(await find(), { ...images, ...whole, updateAt: '2030-01-01 00:00:01' });
  await update(await take(''), '');
  assert.deepEqual(await find(), { ...none, updateAt: '2030-01-01 00:00:02' });
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

test('a logo or an icon in use is never removed; a replaced one is removed after its retention time', async () => {
  const [first, second] = [
    await take(`${world.source.origin}/logo.png`),
    await take(`${world.source.origin}/other.png`),
  ];
  await update(first, '');
  world.clock.time += 2 * unusedRetentionMs;
  assert.deepEqual(await clean(), [second.name]);
  await replace({ icon: await take(`${world.source.origin}/other.png`) }, {});
  assert.deepEqual(await clean(), []);
  world.clock.time += unusedRetentionMs + 1;
  assert.deepEqual(await clean(), [first.name]);
});

test('of two updates at one instant that are based on one read, the second is refused, the first of all too', async () => {
  merchantId = await world.addMerchant();
  const { updateAt: never } = await find();
  await replace({}, { legalName: 'First' }, never);
  const first = await find();
  const stale = { slug: 'branding_changed' };
  await assert.rejects(replace({}, { legalName: 'Second' }, never), stale);
  await replace({}, { legalName: 'Second' }, first.updateAt);
  await assert.rejects(replace({}, { legalName: 'Third' }, first.updateAt), stale);
  assert.equal((await find()).legalName, 'Second');
});
