import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { imageLimits } from '#catalog/images/intake.ts';
import { Browser, DashboardWorld, dashboardOrigin, password } from '../../../test/harness/dashboard-world.ts';
import { sampleImage } from '../../../test/harness/sample-image.ts';

let world: DashboardWorld;
let server: FastifyInstance;
let merchantId: string;
let owner: Browser;
let png: Buffer;

before(async () => {
  world = await DashboardWorld.open();
  server = await world.serve('local', undefined, [world.uploads()]);
  merchantId = await world.merchants.addMerchant();
  owner = await signedIn('owner');
  png = await sampleImage('png', 40, 20);
});
after(() => world.close());

async function signedIn(role: 'owner' | 'viewer'): Promise<Browser> {
  const browser = new Browser(server);
  const { email } = await world.addPerson([[merchantId, role]]);
  await browser.post('/sign-in/password', { email, password });
  browser.merchantId = merchantId;
  return browser;
}

interface Uploaded {
  readonly status: number;
  readonly code: number;
  readonly message: string;
  readonly data: { readonly imageUrl: string } | null;
}

async function upload(by: Browser, payload: Buffer, headers: Record<string, string> = {}): Promise<Uploaded> {
  const reply = await server.inject({
    ...{ method: 'POST', url: '/dashboard/api/image/upload', payload },
    headers: {
      cookie: [...by.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
      ...{ origin: dashboardOrigin, 'florin-merchant': by.merchantId, 'content-type': 'image/png' },
      ...headers,
    },
  });
  return { status: reply.statusCode, ...reply.json() };
}

test('an uploaded image becomes the image of a product', async () => {
  const { code, data } = await upload(owner, png);
  assert.equal(code, 0);
  const imageUrl = data?.imageUrl ?? '';
  assert.ok(imageUrl.startsWith(`${dashboardOrigin}/images/`));
  const made = await owner.post('/product/create', { name: 'Mug', commonPrices: [1_000_000], imageUrl });
  assert.deepEqual([made.data.imageUrl, made.data.imageStatus], [imageUrl, 'hosted']);
  // The same bytes are the same image, and the content decides, not the type that a browser guessed.
  assert.equal((await upload(owner, png, { 'content-type': 'application/json' })).data?.imageUrl, imageUrl);
});

test('a body that is no image of a known type and size is refused with the reason', async () => {
  const refused = async (payload: Buffer) => {
    const { status, code, message } = await upload(owner, payload);
    return [status, code, message];
  };
  const invalid = (reason: string) => [200, 400101, `Invalid field: image cannot be used: ${reason}`];
  assert.deepEqual(await refused(Buffer.from('{}')), invalid('not a jpeg, png or webp image'));
  assert.deepEqual(await refused(Buffer.alloc(0)), invalid('not a jpeg, png or webp image'));
  assert.deepEqual(await refused(png.subarray(0, 50)), invalid('damaged'));
  const [status, code, message] = await refused(Buffer.alloc(5 * 1024 * 1024 + 1));
  assert.deepEqual([status, code], [413, 400110]);
  assert.match(String(message), /at most 5242880 bytes/);
});

test('only a member who may change products uploads, from the dashboard’s own pages', async () => {
  assert.equal((await upload(new Browser(server), png)).code, 200201);
  assert.equal((await upload(await signedIn('viewer'), png)).code, 200205);
  assert.equal((await upload(owner, png, { origin: 'https://shop.example.com' })).code, 200206);
  const foreign = await world.merchants.addMerchant();
  assert.equal((await upload(owner, png, { 'florin-merchant': foreign })).code, 200205);
});

test('a merchant who uploads too many images at once waits; each one that ends leaves its place', async () => {
  const taken = Array.from({ length: imageLimits.perMerchant }, () => world.images.intake.enter(merchantId));
  const refused = await upload(owner, png);
  assert.deepEqual([refused.status, refused.code], [429, 900101]);
  for (const leave of taken) leave();
  for (let round = 0; round <= imageLimits.perMerchant; round += 1)
    assert.equal((await upload(owner, png)).code, 0);
});
