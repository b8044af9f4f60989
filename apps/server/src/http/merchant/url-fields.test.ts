import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { systemRandom } from '#outside/random.ts';
import { silentLog } from '#telemetry/log.ts';
import { noBrandImages, updateBranding } from '../../../test/harness/brand.ts';
import { MerchantWorld } from '../../../test/harness/merchant-fixture.ts';
import { buildServer } from '../server.ts';
import { merchantDoor } from './merchant-door.ts';

const world = await MerchantWorld.open();
// The same door in the local environment.
const local = await buildServer({
  log: silentLog,
  random: systemRandom,
  origin: world.deps.origin,
  ready: async () => ({ ready: true, checks: {} }),
  doors: [merchantDoor({ ...world.deps, addresses: { allowLoopback: true, allowPlainLoopback: true } })],
});
after(async () => {
  await local.close();
  await world.close();
});
const merchantId = await world.addMerchant();
const key = await world.addKey(merchantId);
const accountId = await world.addAccount(merchantId);

const product = { name: 'Tea', commonPrices: [1_000] };
const { productId } = (await world.send('POST', '/product/create', { key, body: product })).data;
const item = { itemType: 'product', productId, quantity: 1, unitPrice: 1_000 };
const sold = { accountId, settlementToken: 'ethereum::usdc', lineItems: [item] };
const link = { ...sold, linkType: 'fixed', linkName: 'Shop', feeModel: 1 };
const webhook = { webhookName: 'Hook', subscribedEvents: ['*'] };
const gift = { itemType: 'one_time', quantity: 1, unitPrice: 1_000 };

/** A request with this URL in each URL field. */
const bodiesWith = (url: string): [path: string, field: string, body: object][] => [
  ['/payment/link/create', 'successUrl', { ...link, successUrl: url }],
  ['/session/checkout/create', 'successUrl', { ...sold, successUrl: url }],
  ['/payment/link/create', 'cancelUrl', { ...link, cancelUrl: url }],
  ['/session/checkout/create', 'cancelUrl', { ...sold, cancelUrl: url }],
  ['/webhook/create', 'webhookUrl', { ...webhook, webhookUrl: url }],
  ['/product/create', 'imageUrl', { ...product, imageUrl: url }],
  ...['logoUrl', 'darkLogoUrl', 'iconUrl', 'supportUrl', 'termsUrl', 'refundUrl', 'privacyUrl'].map(
    (field): [string, string, object] => ['/branding/update', field, { [field]: url }],
  ),
  [
    '/session/checkout/create',
    'lineItems[0].productData.imageUrl',
    { ...sold, lineItems: [{ ...gift, productData: { productName: 'Cup', imageUrl: url } }] },
  ],
];

for (const url of [
  'https:///hook',
  'https://shop.example.com/\r\nX-Injected: 1',
  'https://shop.example.com/a b',
]) {
  test(`no field accepts ${JSON.stringify(url)}`, async () => {
    for (const [path, field, body] of bodiesWith(url)) {
      const reply = await world.send('POST', path, { key, body });
      assert.deepEqual([reply.code, JSON.parse(reply.text).error.param], [400101, field], path);
    }
  });
}

test('an origin that may embed is stored as browsers write it, and is refused where it could change a policy', async () => {
  const update = (embedOrigins: readonly string[]) =>
    world.send('POST', '/branding/update', { key, body: { embedOrigins } });
  for (const url of [
    "https://a.example';",
    'https://*.example',
    'https://a.example/x',
    'https://a@b.example',
  ]) {
    const reply = await update([url]);
    assert.deepEqual([reply.code, JSON.parse(reply.text).error.param], [400101, 'embedOrigins[0]'], url);
  }
  assert.equal((await update(['http://localhost:3000'])).code, 400101);
  assert.equal((await update(Array(21).fill('https://a.example'))).code, 400101);
  assert.equal((await update(['https://Shop.example:443', 'https://shop.example'])).code, 0);
  const { data } = await world.send('GET', '/branding/detail', { key });
  assert.deepEqual(data.embedOrigins, ['https://shop.example']);
  const taken = await local.inject({
    method: 'POST',
    url: '/payment/v1/branding/update',
    headers: { authorization: `Bearer ${key}` },
    payload: { embedOrigins: ['http://localhost:3000'] },
  });
  assert.equal(taken.json().code, 0);
});

test('an update of the branding keeps what it leaves out, and is refused where that has changed', async () => {
  const update = (body: object) => world.send('POST', '/branding/update', { key, body });
  const read = async () => (await world.send('GET', '/branding/detail', { key })).data;
  assert.equal((await update({ embedOrigins: ['https://shop.example'], legalName: 'Tea Ltd' })).code, 0);
  const { updateAt, ...before } = await read();
  assert.equal((await update({ color: '#0b6b4d', legalName: '' })).code, 0);
  const { updateAt: _at, ...now } = await read();
  assert.deepEqual(now, { ...before, color: '#0b6b4d', legalName: '' });
  assert.equal((await update({ color: '', ifUpdateAt: updateAt })).code, 100308);
  // Nothing answers there any more.
  const logo = { name: 'img_old.png', url: 'https://old.invalid/img_old.png' };
  const brand = { merchantId, images: { ...noBrandImages, logo }, look: { legalName: 'Tea Ltd' } };
  await world.database.db.transaction((transaction) => updateBranding(transaction, world.deps, brand));
  assert.equal((await update({ color: '#0b6b4d' })).code, 0);
  assert.deepEqual([(await read()).logoUrl, (await read()).legalName], [logo.url, 'Tea Ltd']);
  assert.equal((await update({ logoUrl: '' })).code, 0);
  assert.equal((await read()).logoUrl, '');
});

test('of updates of the branding at one time each keeps what the others set, the first of all too', async () => {
  const key = await world.addKey(await world.addMerchant());
  const update = (body: object) => world.send('POST', '/branding/update', { key, body });
  for (const changes of [
    { color: '#111111', background: '#222222', cornerRadius: 3, font: 'serif', legalName: 'Tea Ltd' },
    { color: '#333333', background: '#444444', cornerRadius: 4, font: 'rounded', legalName: 'Tea Inc' },
  ]) {
    const each = Object.entries(changes).map(([name, value]) => update({ [name]: value }));
    const replies = await Promise.all(each);
    assert.deepEqual(new Set(replies.map(({ code }) => code)), new Set([0]));
    const { data } = await world.send('GET', '/branding/detail', { key });
    assert.deepEqual({ ...data, ...changes }, data);
  }
});

test('plain http to loopback is accepted for return URLs and webhooks only in the local environment', async () => {
  const returns = bodiesWith('http://localhost:3000/done').filter(
    ([, field]) => !/image|logo|icon|support|terms|refund|privacy/i.test(field),
  );
  assert.equal(returns.length, 5);
  for (const [path, , body] of returns) {
    const refused = await world.send('POST', path, { key, body });
    assert.equal(refused.code, path === '/webhook/create' ? 100503 : 400101, path);
    const taken = await local.inject({
      method: 'POST',
      url: `/payment/v1${path}`,
      headers: { authorization: `Bearer ${key}` },
      payload: body,
    });
    assert.equal(taken.json().code, 0, path);
    assert.ok(taken.body.includes('"http://localhost:3000/done"'), path);
  }
});
