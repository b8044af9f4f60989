import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { MerchantWorld } from '../../../test/harness/merchant-fixture.ts';

let world: MerchantWorld;
let merchantId: string;
let key: string;
let accountId: string;
let productId: string;
before(async () => {
  world = await MerchantWorld.open();
  merchantId = await world.addMerchant();
  key = await world.addKey(merchantId);
  accountId = await world.addAccount(merchantId);
  const body = { name: 'Tea', commonPrices: [10] };
  productId = (await world.send('POST', '/product/create', { key, body })).data.productId;
});
after(() => world.close());

type Bodies = Record<string, () => Record<string, unknown>>;

/** A complete valid body for each path; tests change one field. */
const bodies: Bodies = {
  '/product/create': () => ({ name: 'Tea', commonPrices: [10] }),
  '/payment/link/create': () => ({
    linkType: 'fixed',
    linkName: 'Shop',
    accountId,
    settlementToken: 'ethereum::usdc',
    feeModel: 1,
    lineItems: [linkItem()],
  }),
  '/session/checkout/create': () => ({
    accountId,
    settlementToken: 'ethereum::usdc',
    lineItems: [sessionItem()],
  }),
  '/webhook/create': () => ({
    webhookName: 'Hook',
    webhookUrl: 'https://shop.example.com/hook',
    subscribedEvents: ['*'],
  }),
  '/product/list/by/ids': () => ({ productIds: [] }),
};

const linkItem = (changes: object = {}) => ({
  itemType: 'product',
  productId,
  quantity: 1,
  unitPrice: 1_000,
  ...changes,
});
const sessionItem = (changes: object = {}) => ({
  itemType: 'one_time',
  quantity: 1,
  unitPrice: 1_000,
  productData: { productName: 'Cup' },
  ...changes,
});
const text = (length: number) => '😀'.repeat(length);
const url = (length: number) => `https://shop.example.com/${'x'.repeat(length - 25)}`;
const many = (count: number, item: unknown) => Array.from({ length: count }, () => item);
/** Every limit of the specification and the wire contract: a value just within it, one just beyond, and the field. */
const limits: [path: string, rule: string, within: () => object, beyond: () => object, param: string][] = [
  // proves S2.2
  field('/product/create', 'name', text(100), text(101)),
  field('/product/create', 'name', 'T', ''),
  // proves S2.2
  field('/product/create', 'description', text(1000), text(1001)),
  // proves S2.3
  field('/product/create', 'imageUrl', url(500), url(501)),
  // proves S2.2
  field('/product/create', 'commonPrices', many(5, 1), many(6, 1)),
  field('/product/create', 'commonPrices', [1], []),
  // proves W2.17
  field('/product/create', 'commonPrices', [10_000_000_000_000], [10_000_000_000_001], '[0]'),
  field('/product/create', 'commonPrices', [1], [0], '[0]'),
  // proves S1.6
  field('/product/create', 'commonPrices', [1], [1.5], '[0]'),
  // proves S2.2
  field('/product/create', 'attributes', many(10, attribute(1, 1)), many(11, attribute(1, 1))),
  // proves W2.4
  field('/product/create', 'attributes', [attribute(40, 200)], [attribute(41, 1)], '[0].name'),
  // proves W2.4
  field('/product/create', 'attributes', [attribute(40, 200)], [attribute(1, 201)], '[0].value'),
  // proves W2.3
  field('/payment/link/create', 'linkName', text(100), text(101)),
  field('/payment/link/create', 'linkName', 'L', ''),
  // proves W2.3
  field('/payment/link/create', 'customSuccessText', text(500), text(501)),
  // proves W2.3
  field('/payment/link/create', 'customDisabledText', text(500), text(501)),
  // proves W2.3
  field('/payment/link/create', 'successUrl', url(1000), url(1001)),
  field('/payment/link/create', 'payerEmailRequired', 1, 2),
  field('/payment/link/create', 'feeModel', 2, 0),
  // proves W2.2
  items('/payment/link/create', '20 line items', many(20, {}), many(21, {}), ''),
  // proves W2.2
  items('/payment/link/create', 'at least one line item', [{}], [], ''),
  // proves W2.1
  items(
    '/payment/link/create',
    'quantity 10,000',
    [{ quantity: 10_000 }],
    [{ quantity: 10_001 }],
    '[0].quantity',
  ),
  // proves W2.1
  items('/payment/link/create', 'quantity 1', [{ quantity: 1 }], [{ quantity: 0 }], '[0].quantity'),
  // proves W2.2
  items('/session/checkout/create', '100 line items', many(100, {}), many(101, {}), ''),
  // proves W2.2
  items('/session/checkout/create', 'at least one line item', [{}], [], ''),
  // proves W2.1
  items(
    '/session/checkout/create',
    'quantity 10,000',
    [{ quantity: 10_000 }],
    [{ quantity: 10_001 }],
    '[0].quantity',
  ),
  items('/session/checkout/create', 'quantity 1', [{ quantity: 1 }], [{ quantity: 1.5 }], '[0].quantity'),
  // proves W2.17
  items(
    '/session/checkout/create',
    'a price of ten million dollars',
    [{ unitPrice: 10_000_000_000_000 }],
    [{ unitPrice: 10_000_000_000_001 }],
    '[0].unitPrice',
  ),
  // proves W2.17
  items(
    '/session/checkout/create',
    'a price of one Micro-USD',
    [{ unitPrice: 1, quantity: 1_000 }],
    [{ unitPrice: 0, quantity: 1_000 }],
    '[0].unitPrice',
  ),
  // proves W2.17
  items(
    '/payment/link/create',
    'a price of ten million dollars',
    [{ unitPrice: 10_000_000_000_000 }],
    [{ unitPrice: 10_000_000_000_001 }],
    '[0].unitPrice',
  ),
  field('/session/checkout/create', 'successUrl', url(1000), url(1001)),
  field('/session/checkout/create', 'cancelUrl', url(1000), url(1001)),
  field('/session/checkout/create', 'autoReturn', 'never', 'detected'),
  field('/session/checkout/create', 'customSuccessText', text(500), text(501)),
  field('/payment/link/create', 'cancelUrl', url(1000), url(1001)),
  field('/payment/link/create', 'autoReturn', 'paid', ''),
  field('/session/checkout/create', 'payerEmailRequired', 0, true),
  // proves S8.4
  field('/webhook/create', 'webhookName', text(100), text(101)),
  // proves S8.4
  field('/webhook/create', 'webhookDescription', text(1000), text(1001)),
  // proves S8.4
  field('/webhook/create', 'webhookUrl', url(1000), url(1001)),
  // proves W6.1
  field('/webhook/create', 'subscribedEvents', many(50, 'session.paid'), many(51, 'session.paid')),
  field('/webhook/create', 'subscribedEvents', ['session.paid'], []),
  // proves W2.4
  field('/product/list/by/ids', 'productIds', many(100, 'prd_none'), many(101, 'prd_none')),
];

function attribute(nameLength: number, valueLength: number): object {
  return { name: text(nameLength), value: text(valueLength) };
}

function field(
  path: string,
  name: string,
  within: unknown,
  beyond: unknown,
  place = '',
): (typeof limits)[number] {
  return [path, name, () => ({ [name]: within }), () => ({ [name]: beyond }), name + place];
}

/** Line items with these changes. */
function items(
  path: string,
  rule: string,
  within: unknown[],
  beyond: unknown[],
  place: string,
): (typeof limits)[number] {
  const make = path.includes('link') ? linkItem : sessionItem;
  const lineItems = (changes: unknown[]) => () => ({
    lineItems: changes.map((change) => make(change as object)),
  });
  return [path, rule, lineItems(within), lineItems(beyond), `lineItems${place}`];
}

for (const [path, rule, within, beyond, param] of limits) {
  test(`${rule} of ${path}: a value just within is accepted, one just beyond is refused at ${param}`, async () => {
    const body = bodies[path]?.() ?? {};
    // A merchant may have few webhooks, so each test has its own merchant for them.
    const ownKey = path === '/webhook/create' ? await world.addKey(await world.addMerchant()) : key;
    const taken = await world.send('POST', path, { key: ownKey, body: { ...body, ...within() } });
    assert.equal(taken.code, 0, taken.text);
    const refused = await world.send('POST', path, { key: ownKey, body: { ...body, ...beyond() } });
    assert.deepEqual(
      [refused.status, refused.code, JSON.parse(refused.text).error.param],
      [200, 400101, param],
      refused.text,
    );
  });
}

// proves W2.2
test('an updated link keeps the limit of 20 line items', async () => {
  const body = bodies['/payment/link/create']?.();
  const { linkId } = (await world.send('POST', '/payment/link/create', { key, body })).data;
  const updated = async (count: number) => {
    const lineItems = many(count, linkItem());
    const changed = { ...body, linkId, lineItems };
    return (await world.send('POST', '/payment/link/update', { key, body: changed })).code;
  };
  assert.deepEqual([await updated(20), await updated(21), await updated(0)], [0, 400101, 400101]);
});

// proves W1.31
test('a create refuses undocumented fields of its answer', async () => {
  const undocumented: Record<string, string[]> = {
    '/product/create': ['productId', 'status', 'imageStatus', 'createAt', 'updateAt', 'merchantId'],
    '/payment/link/create': [
      'linkId',
      'amount',
      'linkUrl',
      'status',
      'versionCode',
      'createAt',
      'merchantId',
    ],
    '/session/checkout/create': [
      'sessionId',
      'amount',
      'recipient',
      'payer',
      'status',
      'signedOnce',
      'merchantId',
    ],
    '/webhook/create': ['webhookId', 'status', 'key', 'createAt', 'updateAt', 'merchantId'],
  };
  for (const [path, names] of Object.entries(undocumented)) {
    for (const name of names) {
      const body = { ...bodies[path]?.(), [name]: 'x' };
      const refused = await world.send('POST', path, { key, body });
      assert.deepEqual(
        [refused.code, refused.message],
        [400101, `Invalid field: ${name} is not a known field`],
      );
    }
  }
});

// proves W2.12
test('a session’s total may be exactly ten million dollars', async () => {
  const totalOf = async (...prices: [quantity: number, unitPrice: number][]) => {
    const lineItems = prices.map(([quantity, unitPrice]) => sessionItem({ quantity, unitPrice }));
    const body = { ...bodies['/session/checkout/create']?.(), lineItems };
    return (await world.send('POST', '/session/checkout/create', { key, body })).code;
  };
  assert.equal(await totalOf([10_000, 1_000_000_000]), 0);
  assert.equal(await totalOf([10_000, 1_000_000_000], [1, 1]), 100209);
  assert.equal(await totalOf([10_000, 10_000_000_000_000]), 100209);
});

// proves S2.8, W2.1
test('a user_priced item has quantity 1 and no price, and only appears alone in a custom link', async () => {
  const custom = (...lineItems: object[]) => ({
    ...bodies['/payment/link/create']?.(),
    linkType: 'custom',
    lineItems,
  });
  const outcome = async (body: object, path = '/payment/link/create') => {
    const { code, text } = await world.send('POST', path, { key, body });
    return [code, code === 0 ? '' : JSON.parse(text).error.param];
  };
  const item = { itemType: 'user_priced' };
  assert.deepEqual(await outcome(custom(item)), [0, '']);
  assert.deepEqual(await outcome(custom({ ...item, quantity: 1, unitPrice: 0, productId })), [0, '']);
  assert.deepEqual(await outcome(custom({ ...item, quantity: 2 })), [400101, 'lineItems[0].quantity']);
  assert.deepEqual(await outcome(custom({ ...item, unitPrice: 5 })), [400101, 'lineItems[0].unitPrice']);
  assert.equal((await outcome(custom(item, item)))[0], 100105);
  assert.equal((await outcome({ ...custom(item), linkType: 'fixed' }))[0], 100105);
  const session = { ...bodies['/session/checkout/create']?.(), lineItems: [item] };
  assert.deepEqual(await outcome(session, '/session/checkout/create'), [400101, 'lineItems[0].itemType']);
});
