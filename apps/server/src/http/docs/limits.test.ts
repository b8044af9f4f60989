import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { MerchantWorld } from '../../../test/harness/merchant-fixture.ts';

let world: MerchantWorld;
let key: string;
let accountId: string;

before(async () => {
  world = await MerchantWorld.open();
  const merchantId = await world.addMerchant();
  key = await world.addKey(merchantId);
  accountId = await world.addAccount(merchantId);
});

after(() => world.close());

const post = (path: string, body: unknown) => world.send('POST', path, { key, body });

const createSession = (changes: object = {}) =>
  post('/session/checkout/create', {
    accountId,
    settlementToken: 'ethereum::usdc',
    lineItems: [
      {
        itemType: 'one_time',
        quantity: 2,
        unitPrice: 1_250_000,
        productData: { productName: 'Gift wrapping' },
      },
    ],
    ...changes,
  });

// proves S4.17
test('a session lasts 30 minutes by default', async () => {
  const { data } = await createSession();
  assert.equal(data.expirationTime, world.clock.time / 1000 + 1800);
});

const lives: readonly [rule: string, seconds: number, code: number][] = [
  // proves W2.20
  ['1800 seconds less the grace', 1795, 0],
  // proves S4.17
  ['a second less than that', 1794, 100208],
  ['30 days', 30 * 86_400, 0],
  // proves W2.20
  ['a second more than 30 days', 30 * 86_400 + 1, 100208],
];

for (const [rule, seconds, code] of lives) {
  test(`a session that ends in ${rule} is answered with ${code}`, async () => {
    const reply = await createSession({ expirationTime: world.clock.time / 1000 + seconds });
    assert.equal(reply.code, code);
  });
}

// proves S2.6, S2.9
test('one_time items exist only in their session and never enter the product library', async () => {
  const { data } = await createSession();
  const [item] = data.lineItems.items;
  assert.match(item.lineItemId, /^li_[0-9A-Za-z]{22}$/);
  assert.deepEqual(
    [data.amount, item.itemType, item.productId, item.productData.productName],
    [2_500_000, 'one_time', '', 'Gift wrapping'],
  );
  const library = await world.send('GET', '/product/list/1/100', { key });
  assert.equal(library.data.total, 0);
});

const webhook = { webhookName: 'Orders', webhookUrl: 'https://shop.example.com/', subscribedEvents: ['*'] };
const path = 'x'.repeat(1000 - webhook.webhookUrl.length);

test('a webhook accepts 100 characters of name, 1000 of description and 1000 of URL', async () => {
  const reply = await post('/webhook/create', {
    ...webhook,
    webhookName: '😀'.repeat(100),
    webhookDescription: '😀'.repeat(1000),
    webhookUrl: webhook.webhookUrl + path,
  });
  assert.equal(reply.code, 0);
});

const tooLong: readonly [field: string, value: string][] = [
  ['webhookName', 'x'.repeat(101)],
  ['webhookDescription', 'x'.repeat(1001)],
  ['webhookUrl', `${webhook.webhookUrl}${path}x`],
];

for (const [field, value] of tooLong) {
  test(`a webhook with one character too many in ${field} is refused`, async () => {
    const reply = await post('/webhook/create', { ...webhook, [field]: value });
    assert.deepEqual([reply.code, JSON.parse(reply.text).error.param], [400101, field]);
  });
}
