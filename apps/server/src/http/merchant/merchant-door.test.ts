import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { statement } from '@florin/pg';
import { merchantApi } from '@florin/protocol/merchant-api.ts';
import type { Route } from '@florin/protocol/route.ts';
import { MerchantWorld } from '../../../test/harness/merchant-fixture.ts';
import { addSession } from '../../../test/harness/payment-fixture.ts';

const setPayerEmail = statement({
  name: 'merchant_door_test_payer_email',
  parameters: { sessionId: 'text', payerEmail: 'text' },
  text: 'update sessions set payer_email = :payerEmail where session_id = :sessionId',
});

let world: MerchantWorld;
let merchantId: string;
let key: string;
before(async () => {
  world = await MerchantWorld.open();
  merchantId = await world.addMerchant();
  key = await world.addKey(merchantId);
});
after(() => world.close());

const routes: [string, Route][] = Object.entries(merchantApi.routes);
const guarded = routes.filter(([, route]) => route.permissions.length > 0);

/** A path of the route, with a value for every parameter. */
function pathOf(route: Route): string {
  return route.path.replaceAll(/:(\w+)/g, (_, name) => (name === 'page' || name === 'size' ? '1' : 'none_1'));
}

const headers: [string, Record<string, string>, number][] = [
  // proves S5.3, S7.3, W1.7
  ['no header', {}, 200101],
  ['an empty header', { authorization: '' }, 200101],
  // proves S5.1
  ['two spaces', { authorization: 'Bearer  KEY' }, 200101],
  ['a tab', { authorization: 'Bearer\tKEY' }, 200101],
  ['lower case', { authorization: 'bearer KEY' }, 200101],
  ['another scheme', { authorization: 'Basic KEY' }, 200101],
  ['the key alone', { authorization: 'KEY' }, 200101],
  ['two keys', { authorization: 'Bearer KEY KEY' }, 200101],
  ['no key', { authorization: 'Bearer' }, 200101],
  // proves S5.3, S7.3
  ['an unknown key', { authorization: 'Bearer sk_live_unknown' }, 200102],
];
for (const [rule, header, code] of headers) {
  test(`${rule} in Authorization is 401 with ${code}, for every path`, async () => {
    for (const [name, route] of guarded) {
      const reply = await world.server.inject({
        method: route.method,
        url: `/payment/v1${pathOf(route)}`,
        headers: Object.fromEntries(
          Object.entries(header).map(([field, value]) => [field, value.replaceAll('KEY', key)]),
        ),
        // The body is never parsed.
        ...(route.method === 'POST' ? { payload: '{' } : {}),
      });
      assert.deepEqual([name, reply.statusCode, reply.json().code], [name, 401, code]);
    }
  });
}

// proves S5.1, S7.1, W1.7
test('a key with one space before it is valid, and the answer is the plain envelope', async () => {
  const { status, text } = await world.send('GET', '/session/list/all/1/1', { key });
  const data = { total: 0, page: 1, size: 1, hasMore: false, nextCursor: '', sessions: [] };
  assert.deepEqual([status, JSON.parse(text)], [200, { code: 0, message: 'success', data }]);
});

// proves S5.3
test('an expired key is 401 with 200102', async () => {
  const expired = await world.addKey(merchantId, { expiresAt: world.clock.now() });
  const reply = await world.send('GET', '/account/list', { key: expired });
  assert.deepEqual([reply.status, reply.code], [401, 200102]);
});

// proves W1.23
test('an unknown path is 404 with or without a key', async () => {
  for (const options of [{}, { key }]) {
    const reply = await world.send('GET', '/product/unheard', options);
    assert.deepEqual([reply.status, reply.code], [404, 404000]);
  }
});

// proves W1.2
test('a list of sessions of an unknown status is 404, and names those that there are', async () => {
  const statuses = 'all, initialized, paid, settling, completed, cancelled, expired, settlement/pending';
  for (const path of ['unheard/1/10', 'paid', 'payed/1/10?after=x']) {
    const { status, code, message, text } = await world.send('GET', `/session/list/${path}`, { key });
    assert.deepEqual([status, code, JSON.parse(text).error.param], [404, 404000, 'status']);
    const asked = `GET /payment/v1/session/list/${path.split('?')[0]}`;
    const lists = `lists of sessions are /session/list/<status>/:page/:size with the status ${statuses}`;
    assert.equal(message, `Unknown route: ${asked}; ${lists}`);
  }
});

// proves W1.23
test('an unsupported method on a known path is 405 with Allow', async () => {
  for (const [name, route] of routes) {
    const other = route.method === 'GET' ? 'DELETE' : 'PUT';
    const reply = await world.server.inject({ method: other, url: `/payment/v1${pathOf(route)}` });
    assert.deepEqual([name, reply.statusCode, reply.json().code], [name, 405, 405000]);
    assert.ok(String(reply.headers['allow']).split(', ').includes(route.method), name);
  }
});

// proves S8.6
test('every list has pages from 1 with at most 100 entries', async () => {
  const lists = guarded.filter(([, route]) => route.path.endsWith('/:page/:size'));
  assert.ok(lists.length > 10);
  const isField = async (route: Route, place: string) => {
    const path = route.path.replace(':page/:size', place).replaceAll(/:\w+/g, 'none_1');
    return (await world.send(route.method, path, { key })).code === 400101;
  };
  for (const [name, route] of lists) {
    const refused = [];
    for (const place of ['1/1', '1/100', '0/1', '-1/1', '1/0', '1/101', 'x/1', '1/x'])
      refused.push(await isField(route, place));
    assert.deepEqual([name, ...refused], [name, false, false, true, true, true, true, true, true]);
  }
});

// proves S5.2, W5.9
test('a key without a route’s permissions is 403 with 200103, naming them', async () => {
  const powerless = await world.addKey(merchantId, { permissions: [] });
  for (const [name, route] of guarded) {
    const reply = await world.send(route.method, pathOf(route), { key: powerless });
    assert.deepEqual([name, reply.status, reply.code], [name, 403, 200103]);
    assert.equal(reply.message, `API key lacks permission: ${route.permissions.join(' or ')}`);
  }
});

// proves S5.2, W5.7
test('a read_only key reads and never writes', async () => {
  const readOnly = await world.addKey(merchantId, { preset: 'read_only' });
  for (const [name, route] of guarded) {
    const reply = await world.send(route.method, pathOf(route), {
      key: readOnly,
      ...(route.method === 'POST' ? { body: {} } : {}),
    });
    const isWrite = route.permissions.every((permission) => permission.endsWith(':write'));
    assert.deepEqual([name, reply.status === 403], [name, isWrite]);
  }
});

// proves W5.1
const presetRoutes: [preset: 'fulfilment' | 'agent', routes: string[]][] = [
  [
    'fulfilment',
    [
      'getBranding',
      'getEvent',
      'getSession',
      'listCancelledSessions',
      'listCompletedSessions',
      'listEvents',
      'listExceptions',
      'listExpiredSessions',
      'listInitializedSessions',
      'listPaidSessions',
      'listProducts',
      'listProductsByIds',
      'listSessions',
      'listSettlementPendingSessions',
      'listSettlingSessions',
      'searchSessions',
    ],
  ],
  [
    'agent',
    [
      'cancelCheckoutSession',
      'createCheckoutSession',
      'createLink',
      'disableLink',
      'enableLink',
      'getAccount',
      'getBranding',
      'getLink',
      'getSession',
      'listAccounts',
      'listCancelledSessions',
      'listCompletedSessions',
      'listExceptions',
      'listExpiredSessions',
      'listInitializedSessions',
      'listLinks',
      'listPaidSessions',
      'listProducts',
      'listProductsByIds',
      'listSessions',
      'listSettlementPendingSessions',
      'listSettlingSessions',
      'searchSessions',
      'updateLink',
    ],
  ],
];
for (const [preset, expected] of presetRoutes) {
  test(`a key of the preset ${preset} reaches what it is named for, and nothing else`, async () => {
    const own = await world.addKey(merchantId, { preset });
    const reached: string[] = [];
    for (const [name, route] of guarded) {
      const body = route.method === 'POST' ? { body: {} } : {};
      const reply = await world.send(route.method, pathOf(route), { key: own, ...body });
      if (reply.status !== 403) reached.push(name);
    }
    assert.deepEqual(reached.sort(), expected);
  });
}

// proves W5.1
test('a fulfilment key sees payers, an agent key does not', async () => {
  const accountId = await world.addAccount(merchantId);
  const sessionId = await addSession(world, { key, accountId });
  await world.database.db.query(setPayerEmail, { sessionId, payerEmail: 'payer@example.com' });
  const emailFor = async (preset: 'fulfilment' | 'agent') => {
    const own = await world.addKey(merchantId, { preset });
    return (await world.send('GET', `/session/${sessionId}`, { key: own })).data.session.payerEmail;
  };
  assert.deepEqual([await emailFor('fulfilment'), await emailFor('agent')], ['payer@example.com', '']);
});

// proves W5.8
test('a storefront key creates, reads and cancels sessions, reads products, and lists nothing else', async () => {
  const origin = 'https://shop.example.com';
  const storefront = await world.addKey(merchantId, { preset: 'storefront', origins: [origin] });
  const reached: string[] = [];
  for (const [name, route] of guarded) {
    const body = route.method === 'POST' ? { body: {} } : {};
    const reply = await world.send(route.method, pathOf(route), {
      ...{ key: storefront, headers: { origin } },
      ...body,
    });
    if (reply.status !== 403) reached.push(name);
  }
  assert.deepEqual(reached.sort(), [
    'cancelCheckoutSession',
    'createCheckoutSession',
    'getBranding',
    'getSession',
    'listProducts',
    'listProductsByIds',
  ]);
});

// proves W1.13
test('capabilities are public, and name which tokens pay which', async () => {
  const reply = await world.send('GET', '/capabilities/all');
  assert.equal(reply.status, 200);
  assert.deepEqual(reply.data.supportedTokens, [
    { tokenId: 'ethereum::usdc', symbol: 'USDC', chainId: '31337', decimals: 6 },
    { tokenId: 'ethereum::usdt', symbol: 'USDT', chainId: '31337', decimals: 6 },
    { tokenId: 'base::usdc', symbol: 'USDC', chainId: '31338', decimals: 18 },
  ]);
  const terms = {
    minPaymentValue: 2,
    maxPaymentValue: 10_000_000_000_000,
    finality: 'finalized, 1 block deep',
    methods: ['transaction', 'eip5792'],
    status: 'available',
    statusReason: '',
  };
  // A vault payment waits for three finalities: the payment's, its settlement into the vault, and the payout's.
  assert.deepEqual(reply.data.paymentCapabilities['ethereum::usdc'], [
    { tokenId: 'ethereum::usdc', crosschain: false, feeRatePPM: 2000, etaSeconds: 6, ...terms },
    { tokenId: 'ethereum::usdt', crosschain: false, feeRatePPM: 3000, etaSeconds: 9, ...terms },
    { tokenId: 'base::usdc', crosschain: true, feeRatePPM: 6000, etaSeconds: 9, ...terms },
  ]);
});

// proves S4.5, S4.20
test('every list has pages from 1 with at most 100 entries', async () => {
  const lists = routes.filter(([, { path }]) => /^\/[a-z/]+\/:page\/:size$/.test(path));
  assert.ok(lists.length >= 10);
  const pages: [page: number, size: number, code: number, param: string][] = [
    [0, 1, 400101, 'page'],
    [1, 0, 400101, 'size'],
    [1, 101, 400101, 'size'],
    [1, 100, 0, ''],
  ];
  for (const [name, { path }] of lists) {
    for (const [page, size, code, param] of pages) {
      const url = path.replace(':page', `${page}`).replace(':size', `${size}`);
      const reply = await world.send('GET', url, { key });
      const seen = reply.code === 0 ? '' : JSON.parse(reply.text).error.param;
      assert.deepEqual([name, reply.code, seen], [name, code, param]);
    }
  }
});

// proves S4.9
test('accounts are read one by one and all together, by their own merchant alone', async () => {
  const owner = await world.addMerchant();
  const ownKey = await world.addKey(owner);
  const first = await world.addAccount(owner);
  const second = await world.addAccount(owner, ['base::usdc']);
  const [list, detail, foreign] = await Promise.all([
    world.send('GET', '/account/list', { key: ownKey }),
    world.send('GET', `/account/detail/${second}`, { key: ownKey }),
    world.send('GET', `/account/detail/${second}`, { key }),
  ]);
  assert.deepEqual(
    list.data.map(({ accountId }: { accountId: string }) => accountId),
    [second, first],
  );
  assert.deepEqual(detail.data, list.data[0]);
  assert.deepEqual(detail.data.settlementCurrencies, ['base::usdc']);
  assert.deepEqual([foreign.status, foreign.code], [200, 100401]);
});

// proves S2.21, W2.19
test('webhooks show their key at creation, and later to keys with that permission', async () => {
  const readOnly = await world.addKey(merchantId, { preset: 'read_only' });
  const body = {
    webhookName: 'Hook',
    webhookUrl: 'https://shop.example.com/hook',
    subscribedEvents: ['session.*'],
  };
  const created = await world.send('POST', '/webhook/create', { key, body });
  assert.match(created.data.key, /^whsec_[A-Za-z0-9+/]{43}=$/);
  const path = `/webhook/detail/${created.data.webhookId}`;
  const [full, masked, list, unknown] = await Promise.all([
    world.send('GET', path, { key }),
    world.send('GET', path, { key: readOnly }),
    world.send('GET', '/webhook/list', { key: readOnly }),
    world.send('GET', '/webhook/detail/wkid_none', { key }),
  ]);
  assert.deepEqual(full.data, created.data);
  assert.match(masked.data.key, /^whsec_\*{4}.{4}$/);
  assert.deepEqual(list.data, { webhooks: [masked.data] });
  assert.equal(unknown.code, 100501);
});

// proves W1.33
test('a webhook that already has the requested state stays so, and the request succeeds', async () => {
  const owner = await world.addKey(await world.addMerchant());
  const body = { webhookName: 'Hook', webhookUrl: 'https://a.example.com/', subscribedEvents: ['*'] };
  const { webhookId } = (await world.send('POST', '/webhook/create', { key: owner, body })).data;
  for (const [action, status] of [
    ['enable', 'active'],
    ['disable', 'inactive'],
    ['disable', 'inactive'],
    ['enable', 'active'],
    ['enable', 'active'],
  ]) {
    const reply = await world.send('POST', `/webhook/${action}`, { key: owner, body: { webhookId } });
    assert.deepEqual(reply.data, { success: true });
    const { data } = await world.send('GET', `/webhook/detail/${webhookId}`, { key: owner });
    assert.equal(data.status, status);
  }
  const events = await world.send('GET', '/event/list/1/10', { key: owner });
  assert.equal(events.data.total, 0);
});

// proves S4.22
test('a webhook is changed, stopped, started, given a new key and deleted', async () => {
  const owner = await world.addKey(await world.addMerchant());
  const send = (path: string, body: object) => world.send('POST', `/webhook/${path}`, { key: owner, body });
  const fields = { webhookName: 'Hook', webhookUrl: 'https://a.example.com/', subscribedEvents: ['*'] };
  const created = (await send('create', { ...fields, webhookDescription: 'Old' })).data;
  const { webhookId } = created;
  const read = async () => (await world.send('GET', `/webhook/detail/${webhookId}`, { key: owner })).data;
  const list = async () => (await world.send('GET', '/webhook/list', { key: owner })).data;
  const success = { success: true };
  assert.deepEqual(
    (await send('update', { ...created, ...fields, webhookDescription: undefined })).data,
    success,
  );
  // A change has a later second than the one before.
  assert.deepEqual(await read(), { ...created, webhookDescription: '', updateAt: '2030-01-01 00:00:01' });
  assert.deepEqual(await list(), { webhooks: [await read()] });
  assert.deepEqual((await send('disable', { webhookId })).data, success);
  assert.equal((await read()).status, 'inactive');
  assert.deepEqual((await send('enable', { webhookId, replaySince: 0 })).data, success);
  assert.equal((await read()).status, 'active');
  assert.deepEqual((await send('key/refresh', { webhookId })).data, success);
  assert.notEqual((await read()).key, created.key);
  assert.deepEqual((await send('remove', { webhookId })).data, success);
  assert.equal((await send('disable', { webhookId })).code, 100501);
  assert.deepEqual(await list(), { webhooks: [] });
});
