import assert from 'node:assert/strict';
import { test } from 'node:test';
import { merchantApi } from '@florin/protocol/merchant-api.ts';
import type { Route } from '@florin/protocol/route.ts';
import { type CallOptions, type Florin, microUsd, usd } from './florin.ts';
import { type Answer, failure, openTestService, success } from './service.fixture.ts';

const link = {
  linkType: 'fixed',
  linkName: 'Tea',
  accountId: 'acc_1',
  settlementToken: 'base::usdc',
  feeModel: 1,
  lineItems: [{ itemType: 'product', productId: 'prd_1', unitPrice: usd('1') }],
} as const;
const product = { name: 'Tea', commonPrices: [usd('1')] };
const webhook = {
  webhookName: 'Orders',
  webhookUrl: 'https://shop.example.com/',
  subscribedEvents: ['*'],
} as const;
const sale = { settlementToken: 'base::usdc', lineItems: [{ name: 'Tea', price: usd('1') }] };
const statuses = [
  'initialized',
  'paid',
  'settling',
  'completed',
  'settlement_pending',
  'expired',
  'cancelled',
] as const;

/** One call of every method. */
function callsOf(florin: Florin): readonly (() => Promise<unknown>)[] {
  const { accounts, branding, capabilities, checkout, events, exceptions, links, products, refunds } = florin;
  const { reports, sessions, webhooks } = florin;
  return [
    ...[() => products.create(product), () => products.update('prd_1', product)],
    ...[
      () => products.list().page(),
      () => products.retrieve('prd_1'),
      () => products.listByIds(['prd_1']),
      () => products.archive('prd_1'),
    ],
    ...[() => products.unarchive('prd_1'), () => products.remove('prd_1')],
    ...[() => accounts.list().page(), () => accounts.retrieve('acc_1')],
    ...[() => branding.retrieve(), () => branding.update({ color: '' }), () => capabilities.retrieve()],
    ...[() => links.create(link), () => links.update('lnk_1', link), () => links.list().page()],
    ...[() => links.retrieve('lnk_1'), () => links.disable('lnk_1'), () => links.enable('lnk_1')],
    ...[() => checkout.sessions.create(sale), () => checkout.sessions.cancel('sess_1')],
    ...[() => sessions.retrieve('sess_1'), () => sessions.search().page(), () => sessions.list().page()],
    ...statuses.map((status) => () => sessions.list({ status }).page()),
    ...[
      () => refunds.create({ sessionId: 'sess_1' }),
      () => refunds.cancel('rfd_1'),
      () => refunds.retrieve('rfd_1'),
      () => refunds.list({ sessionId: 'sess_1' }).page(),
    ],
    ...[() => exceptions.list().page(), () => exceptions.accept('exc_1'), () => exceptions.refund('exc_1')],
    ...[() => exceptions.resolve('exc_1'), () => reports.retrieve('rpt_1')],
    () => reports.create({ type: 'fees', from: 1, to: 2, format: 'csv' }),
    ...[() => webhooks.create(webhook), () => webhooks.update('wkid_1', webhook)],
    ...[() => webhooks.list().page(), () => webhooks.retrieve('wkid_1'), () => webhooks.disable('wkid_1')],
    ...[
      () => webhooks.enable('wkid_1', { replaySince: 1 }),
      () => webhooks.refreshKey('wkid_1', { overlapSeconds: 1 }),
    ],
    ...[() => webhooks.remove('wkid_1'), () => webhooks.test('wkid_1', { eventType: 'session.paid' })],
    ...[() => webhooks.deliveries.list('wkid_1').page(), () => webhooks.deliveries.retrieve('dlv_1')],
    ...[
      () => webhooks.deliveries.resend('dlv_1'),
      () => webhooks.deliveries.resendAll({ webhookId: 'wkid_1' }),
    ],
    ...[() => events.list().page(), () => events.retrieve('evt_1')],
  ];
}

const account = { accountId: 'acc_1', settlementCurrencies: ['base::usdc'] };
const event = { id: 'evt_1', type: 'session.paid', data: {} };
const ids = { productId: 'prd_1', linkId: 'lnk_1', webhookId: 'wkid_1' };

/** Whatever any method reads out of an answer: of things, their ids. */
const anything: Answer = (response, { path }) => {
  const lists = [
    'products',
    'links',
    'sessions',
    'refunds',
    'exceptions',
    'webhooks',
    'deliveries',
    'events',
  ];
  const page = { hasMore: false, nextCursor: '', ...Object.fromEntries(lists.map((name) => [name, []])) };
  const one = { ...page, ...event, ...ids };
  const data = path.endsWith('/account/list') ? [account] : path.endsWith('/by/ids') ? [one] : one;
  response.end(JSON.stringify({ code: 0, message: 'success', data }));
};

/** The operations whose method and path a request has; of `/session/:sessionId` and `/session/search` the second. */
function operationOf(method: string, path: string): string {
  const matching = Object.entries<Route>(merchantApi.routes).filter(([, route]) => {
    const pattern = route.path.replaceAll(/:\w+/g, '[^/]+');
    return route.method === method && new RegExp(`^/payment/v1${pattern}(\\?.*)?$`).test(path);
  });
  const [best] = matching.toSorted(([, left], [, right]) => wildcards(left) - wildcards(right));
  return best?.[0] ?? `nothing at ${method} ${path}`;
}

function wildcards({ path }: Route): number {
  return path.split(':').length;
}

test('every operation of the merchant API has a method, and every method sends what its operation takes', async () => {
  await using service = await openTestService(anything);
  const sent = new Set<string>();
  for (const call of callsOf(service.florin)) {
    const before = service.seen.length;
    await call();
    assert.ok(service.seen.length > before);
    for (const { method, path, body } of service.seen.slice(before)) {
      const id = operationOf(method, path);
      sent.add(id);
      const { required = [] } = (merchantApi.routes as Record<string, Route>)[id]?.body ?? {};
      assert.deepEqual(
        required.filter((name) => !Object.hasOwn(Object(body), name)),
        [],
        id,
      );
    }
  }
  assert.deepEqual([...sent].sort(), Object.keys(merchantApi.routes).sort());
});

test('an item is sent as the API takes it: by name, by product, or as it is', async () => {
  await using service = await openTestService(anything);
  const wire = {
    itemType: 'one_time',
    quantity: 1,
    unitPrice: microUsd(5),
    productData: { productName: 'Gift' },
  } as const;
  await service.florin.checkout.sessions.create({
    accountId: 'acc_2',
    settlementToken: 'base::usdc',
    lineItems: [
      { name: 'Tea', price: usd('1'), description: 'Green' },
      { productId: 'prd_1', quantity: 2 },
      wire,
    ],
    metadata: { order: 'A-1' },
  });
  assert.deepEqual(
    service.seen.map(({ body }) => body),
    [
      {
        accountId: 'acc_2',
        settlementToken: 'base::usdc',
        lineItems: [
          {
            itemType: 'one_time',
            quantity: 1,
            unitPrice: 1_000_000,
            productData: { productName: 'Tea', productDescription: 'Green' },
          },
          { itemType: 'product', productId: 'prd_1', quantity: 2 },
          wire,
        ],
        metadata: { order: 'A-1' },
      },
    ],
  );
});

test('an item with a member that is not known is refused by its name, and nothing is sent', async () => {
  await using service = await openTestService(anything);
  const { sessions } = service.florin.checkout;
  const [first] = sale.lineItems;
  for (const [lineItems, param] of [
    [[{ ...first, qty: 3 }], 'lineItems[0].qty'],
    [[first, { productId: 'prd_1', name: 'Tea' }], 'lineItems[1].name'],
    [[first, null], 'lineItems[1]'],
    [[{ name: 'Tea', price: 4.5 }], 'lineItems[0].price'],
    // Cents.
    [[{ name: 'Tea', price: 450 }], 'lineItems[0].price'],
    [[{ productId: 'prd_1', price: 9_999 }], 'lineItems[0].price'],
    [[{ name: 'Tea' }], 'lineItems[0].price'],
    [[{ productId: 'prd_1', price: '4.50' }], 'lineItems[0].price'],
    [undefined, 'lineItems'],
    [first, 'lineItems'],
  ] as const)
    await assert.rejects(sessions.create({ ...sale, lineItems: lineItems as unknown as [] }), {
      name: 'FlorinError',
      slug: 'argument_invalid',
      param,
    });
  await assert.rejects(sessions.create(undefined as unknown as typeof sale), { slug: 'argument_invalid' });
  assert.throws(() => service.florin.events.list(Object({ types: 'session.*' })), {
    slug: 'argument_invalid',
    param: 'types',
  });
  assert.deepEqual(service.seen, []);
});

test('a session without an account gets the only one that takes its token, which is read once', async () => {
  await using service = await openTestService(anything);
  const { sessions } = service.florin.checkout;
  await sessions.create(sale);
  await sessions.create(sale);
  assert.deepEqual(
    service.seen.map(({ path }) => path.slice('/payment/v1'.length)),
    ['/account/list', '/session/checkout/create', '/session/checkout/create'],
  );
  assert.deepEqual(Object(service.seen[2]?.body).accountId, 'acc_1');
  await assert.rejects(sessions.create({ ...sale, settlementToken: 'base::usdt' }), {
    ...{ slug: 'argument_invalid', param: 'settlementToken' },
    message: 'no account takes base::usdt: yours take base::usdc',
  });
});

test('sales that begin at one time share the read of the accounts, and a read that failed is not kept', async () => {
  const answers = [failure(200, 900_101, 'rate_limited'), anything];
  await using service = await openTestService(...answers);
  const { sessions } = service.florin.checkout;
  const sales = (options?: CallOptions) => [sessions.create(sale), sessions.create(sale, options)];
  const reads = () => service.seen.filter(({ path }) => path.endsWith('/account/list')).length;
  const slugs = (await Promise.allSettled(sales())).map((each) =>
    each.status === 'rejected' ? each.reason.slug : '',
  );
  assert.deepEqual([slugs, reads()], [['rate_limited', 'rate_limited'], 1]);
  await Promise.all(sales({ idempotencyKey: 'A-1', timeoutMs: undefined }));
  assert.equal(reads(), 2);
});

test('a caller who aborts ends the sale alone, and not those that began with it', async () => {
  await using service = await openTestService(anything);
  const { sessions } = service.florin.checkout;
  const aborted = sessions.create(sale, { signal: AbortSignal.abort() });
  await Promise.all([assert.rejects(aborted, { slug: 'aborted' }), sessions.create(sale)]);
});

test('of two accounts that take the token none is chosen', async () => {
  const accounts = [account, { ...account, accountId: 'acc_2' }];
  await using service = await openTestService((response) =>
    response.end(JSON.stringify({ code: 0, message: 'success', data: accounts })),
  );
  await assert.rejects(
    service.florin.checkout.sessions.create(sale),
    /2 accounts take base::usdc: give accountId/,
  );
});

test('a status that does not exist is refused, and asks for no other list', async () => {
  await using service = await openTestService(anything);
  const status = 'toString' as 'paid';
  assert.throws(() => service.florin.sessions.list({ status }), {
    slug: 'argument_invalid',
    param: 'status',
  });
});

test('null as a filter, as programs in JavaScript give it, selects everything', async () => {
  const none = success({ sessions: [], events: [], hasMore: false, nextCursor: '' });
  await using service = await openTestService(none);
  const { events, sessions } = service.florin;
  const filter = JSON.parse('null');
  assert.deepEqual((await sessions.list(filter).page()).items, []);
  assert.deepEqual((await events.list(filter).page()).items, []);
});
