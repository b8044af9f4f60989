import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { statement } from '@florin/pg';
import fc from 'fast-check';
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
  const product = await world.send('POST', '/product/create', {
    key,
    body: { name: 'Tea', commonPrices: [1_500_000, 2] },
  });
  productId = product.data.productId;
});
after(() => world.close());

function sessionBody(changes: object = {}) {
  return {
    accountId,
    settlementToken: 'ethereum::usdc',
    lineItems: [{ itemType: 'product', productId }],
    ...changes,
  };
}

/** A create request whose metadata is exactly this text. */
function bodyWith(metadata: string): string {
  return `${JSON.stringify(sessionBody()).slice(0, -1)}, "metadata" : ${metadata} }`;
}

const create = (body: unknown = sessionBody()) =>
  world.send('POST', '/session/checkout/create', { key, body });
const get = (path: string) => world.send('GET', path, { key });

/** The raw text of metadata, which is the last member of a session. */
function metadataIn(text: string, end: string): string {
  const start = text.indexOf('"metadata":') + '"metadata":'.length;
  assert.ok(text.endsWith(end));
  return text.slice(start, -end.length);
}

// proves S2.1, S2.6, S2.15, S2.16, S4.16, W2.7
test('a session is created initialized and complete, and read back the same', async () => {
  const created = await create(sessionBody({ feeModel: 2, payerEmailRequired: 1, metadata: { order: 7 } }));
  const { sessionId, clientCode, lineItems } = created.data;
  assert.deepEqual(created.data, {
    sessionId,
    sessionType: 'chk',
    businessId: '',
    businessType: '',
    clientCode,
    payer: '',
    payerEmail: '',
    payerEmailRequired: 1,
    paidToken: '',
    receiptId: '',
    recipient: (await get(`/account/detail/${accountId}`)).data.accountAddress,
    settlementToken: 'ethereum::usdc',
    feeModel: 2,
    amount: 1_500_000,
    lineItems: {
      items: [
        {
          lineItemId: lineItems.items[0].lineItemId,
          itemType: 'product',
          productId,
          quantity: 1,
          unitPrice: 1_500_000,
          productData: { productName: 'Tea', productDescription: '', imageUrl: '', attributes: [] },
        },
      ],
    },
    expirationTime: world.clock.time / 1000 + 1800,
    successUrl: '',
    paymentUrl: `https://pay.example.com/checkout/${sessionId}#${clientCode}`,
    signedOnce: 0,
    initiateTx: '',
    completeTx: '',
    paymentSucceededTime: null,
    settlementSucceededTime: null,
    createAt: '2030-01-01 00:00:00',
    status: 'initialized',
    pendingReason: '',
    intendedPayer: '',
    refundedAmount: 0,
    metadata: { order: 7 },
  });
  assert.match(sessionId, /^sess_[0-9A-Za-z]{22}$/);
  assert.match(lineItems.items[0].lineItemId, /^li_[0-9A-Za-z]{22}$/);
  const read = await get(`/session/${sessionId}`);
  assert.deepEqual(read.data, { session: created.data });
});

/** As in rows from when the column was jsonb, which keeps no order of members. */
const sortItems = statement({
  name: 'sessions_test_sort_items',
  parameters: { sessionId: 'text' },
  text: `update sessions set line_items = line_items::jsonb::text where session_id = :sessionId`,
});

test('items are returned with members in order, regardless of their storage', async () => {
  const { data, text } = await create();
  await world.database.db.query(sortItems, { sessionId: data.sessionId });
  const read = await get(`/session/${data.sessionId}`);
  const itemsIn = (reply: string) =>
    reply.slice(reply.indexOf('"lineItems":'), reply.indexOf(',"expirationTime"'));
  assert.equal(itemsIn(read.text), itemsIn(text));
});

// proves S2.17
test('metadata is returned byte for byte, in every spelling', async () => {
  const member = fc.tuple(
    fc.constantFrom('"a"', '"b"', '"\\u0061"', '"__proto__"', '"é😀"'),
    fc.constantFrom(
      '1',
      '-0',
      '1E400',
      '12345678901234567890',
      '"\\u0000"',
      '"\\ud800"',
      '{"a":1,"a":2}',
      '[ ]',
      '"/\\/"',
    ),
    fc.constantFrom('', ' ', '\n\t'),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(member, { maxLength: 5 }), async (members) => {
      const written = members.map(([name, value, space]) => `${space}${name}${space}:${space}${value}`);
      const metadata = `{${written.join(',')}}`;
      const created = await create(bodyWith(metadata));
      assert.equal(metadataIn(created.text, '}}'), metadata);
      const read = await get(`/session/${created.data.sessionId}`);
      assert.equal(metadataIn(read.text, '}}}'), metadata);
    }),
    { numRuns: 25 },
  );
});

// proves W1.34
test('absent metadata is an empty object', async () => {
  assert.equal(metadataIn((await create()).text, '}}'), '{}');
});

const sixteenKiB = `{"a":"${'é'.repeat((16 * 1024 - 8) / 2)}"}`;
const metadataCases: [string, string, number][] = [
  ['16 KiB', sixteenKiB, 0],
  // proves W2.14
  ['one byte more than 16 KiB', sixteenKiB.replace('é', 'éx'), 400101],
  ['8 levels', `${'{"a":'.repeat(7)}{}${'}'.repeat(7)}`, 0],
  // proves W2.14
  ['9 levels', `${'{"a":'.repeat(8)}{}${'}'.repeat(8)}`, 400101],
  ['an array', '[]', 400101],
  ['a text', '"a"', 400101],
  ['null', 'null', 400101],
];
for (const [rule, metadata, code] of metadataCases) {
  test(`metadata of ${rule} is ${code === 0 ? 'accepted' : 'refused'}`, async () => {
    const reply = await create(bodyWith(metadata));
    assert.deepEqual([reply.status, reply.code], [200, code]);
    if (code !== 0) assert.match(reply.message, /^Invalid field: metadata must /);
  });
}

// proves S3.4, S4.18, W4.1
test('an unsigned session is cancelled once', async () => {
  const { sessionId } = (await create()).data;
  const cancel = () => world.send('POST', '/session/checkout/cancel', { key, body: { sessionId } });
  assert.deepEqual((await cancel()).data, { success: true });
  assert.equal((await get(`/session/${sessionId}`)).data.session.status, 'cancelled');
  assert.equal((await cancel()).code, 100205);
});

// proves S4.20, W1.11, W1.12
test('every list has the sessions of its status, with numeric pages', async () => {
  const owner = await world.addMerchant();
  const ownKey = await world.addKey(owner);
  const ownAccount = await world.addAccount(owner);
  const oneTime = {
    itemType: 'one_time',
    quantity: 1,
    unitPrice: 5_000,
    productData: { productName: 'Cup' },
  };
  const body = sessionBody({ accountId: ownAccount, lineItems: [oneTime] });
  const ids: string[] = [];
  for (let index = 0; index < 3; index += 1) {
    const created = await world.send('POST', '/session/checkout/create', { key: ownKey, body });
    ids.unshift(created.data.sessionId);
  }
  await world.send('POST', '/session/checkout/cancel', { key: ownKey, body: { sessionId: ids[0] } });
  const list = async (path: string) => {
    const { sessions, ...page } = (await world.send('GET', `/session/list/${path}`, { key: ownKey })).data;
    const shown = sessions.map(({ session }: { session: { sessionId: string } }) => session.sessionId);
    return { ...page, shown };
  };
  assert.deepEqual(await list('all/1/2'), {
    total: 3,
    page: 1,
    size: 2,
    hasMore: true,
    nextCursor: ids[1],
    shown: ids.slice(0, 2),
  });
  assert.deepEqual(await list('all/2/2'), {
    total: 3,
    page: 2,
    size: 2,
    hasMore: false,
    nextCursor: '',
    shown: ids.slice(2),
  });
  assert.deepEqual(await list('all/1/3'), {
    total: 3,
    page: 1,
    size: 3,
    hasMore: false,
    nextCursor: '',
    shown: ids,
  });
  const first = { page: 1, size: 100, hasMore: false, nextCursor: '' };
  assert.deepEqual(await list('initialized/1/100'), { total: 2, ...first, shown: ids.slice(1) });
  assert.deepEqual(await list('cancelled/1/100'), { total: 1, ...first, shown: ids.slice(0, 1) });
  for (const status of ['paid', 'settling', 'completed', 'settlement/pending', 'expired']) {
    assert.deepEqual(await list(`${status}/1/100`), { total: 0, ...first, shown: [] });
  }
});

// proves S6.1
test('a new session notifies the active webhooks that subscribe to it, and no others', async () => {
  const owner = await world.addMerchant();
  const ownKey = await world.addKey(owner);
  const accountId = await world.addAccount(owner);
  const post = (path: string, body: unknown) => world.send('POST', path, { key: ownKey, body });
  const told: [subscribed: string, status: string[]][] = [
    ['*', ['pending']],
    ['session.*', ['pending']],
    ['session.created', ['pending']],
    ['session.paid', []],
    ['product.*', []],
    ['session.*', ['skipped']],
  ];
  const webhookIds: string[] = [];
  for (const [subscribed] of told) {
    const body = {
      webhookName: 'Hook',
      webhookUrl: 'https://a.example.com/',
      subscribedEvents: [subscribed],
    };
    webhookIds.push((await post('/webhook/create', body)).data.webhookId);
  }
  await post('/webhook/disable', { webhookId: webhookIds.at(-1) });
  const productData = { productName: 'Cup' };
  const lineItems = [{ itemType: 'one_time', quantity: 1, unitPrice: 5_000, productData }];
  assert.equal((await post('/session/checkout/create', sessionBody({ accountId, lineItems }))).code, 0);
  const statuses = async (webhookId: string) => {
    const { data } = await world.send('GET', `/webhook/delivery/list/${webhookId}/1/10`, { key: ownKey });
    return data.deliveries.map(({ status }: { status: string }) => status);
  };
  assert.deepEqual(
    await Promise.all(webhookIds.map(statuses)),
    told.map(([, status]) => status),
  );
});

// proves W2.18
test('restricted keys never see the secret of the page', async () => {
  const restricted = await world.addKey(merchantId, { preset: 'read_only' });
  const { sessionId, clientCode } = (await create()).data;
  const paths = [`/session/${sessionId}`, '/session/list/all/1/1', '/event/list/1/1'];
  for (const path of paths) {
    const reply = await world.send('GET', path, { key: restricted });
    assert.ok(reply.text.includes('"clientCode":"****"'), path);
    assert.ok(!reply.text.includes(clientCode), path);
  }
});

test("another merchant's session is not found", async () => {
  const foreignKey = await world.addKey(await world.addMerchant());
  const { sessionId } = (await create()).data;
  const [read, cancelled] = await Promise.all([
    world.send('GET', `/session/${sessionId}`, { key: foreignKey }),
    world.send('POST', '/session/checkout/cancel', { key: foreignKey, body: { sessionId } }),
  ]);
  assert.deepEqual([read.code, cancelled.code], [100201, 100201]);
});

test('NUL in an id of a path is an unknown id, never a database failure', async () => {
  const reply = await get('/session/sess_%00');
  assert.deepEqual([reply.status, reply.code], [200, 100201]);
});
