import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { agentApi } from '@florin/protocol/agent-api.ts';
import { checkoutApi } from '@florin/protocol/checkout-api.ts';
import { x402Api } from '@florin/protocol/x402-api.ts';
import type { FastifyInstance } from 'fastify';
import { getAddress } from 'viem';
import { defaultOrderLimits } from '#orders/order-limit.ts';
import { systemRandom } from '#outside/random.ts';
import { silentLog } from '#telemetry/log.ts';
import { ChangeJournal } from '../../test/fuzz/change-journal.ts';
import { openLinkWorld } from '../../test/harness/agent-payer.ts';
import { checkoutOptionsOf } from '../../test/harness/checkout-fixture.ts';
import { localLimits } from '../../test/harness/local-limits.ts';
import { MerchantWorld } from '../../test/harness/merchant-fixture.ts';
import { checkoutDoor } from './checkout/checkout-door.ts';
import { freeOperations, mostInAnHour } from './free-creation.ts';
import { defaultRateLimits, limitedDoor } from './rate-limit.ts';
import { buildServer } from './server.ts';

/** The hosted pages with the default limits of an installation. The clock stops. */
let world: MerchantWorld;
let journal: ChangeJournal;
let pages: FastifyInstance;
const routes: string[] = [];
let link = { linkId: '', versionCode: '' };
before(async () => {
  world = await MerchantWorld.open();
  const options = checkoutOptionsOf(world);
  const deposits = {
    ...{ underpaidPpm: 0, underpaidAmount: undefined, latePayment: 'ask', lateHours: 24 },
    ...{ addedAboveFee: options.gasless?.minAmount, addedPerDay: options.gasless?.minAmount },
  };
  const gasless = { ...options.gasless, deposits } as NonNullable<typeof options.gasless>;
  const door = checkoutDoor({ ...options, gasless, orderLimits: defaultOrderLimits });
  pages = await buildServer({
    ...{ log: silentLog, random: systemRandom, origin: world.deps.origin },
    ready: async () => ({ ready: true, checks: {} }),
    doors: [
      async (server) => {
        server.addHook('onRoute', ({ method, url }) => {
          for (const each of [method].flat()) routes.push(`${each} ${url}`);
        });
        await limitedDoor('checkout', door, localLimits(defaultRateLimits, world.clock))(server);
      },
    ],
  });
  const merchantId = await world.addMerchant();
  const key = await world.addKey(merchantId);
  const accountId = await world.addAccount(merchantId);
  const product = { name: 'Green tea', commonPrices: [2_500_000] };
  const { productId } = (await world.send('POST', '/product/create', { key, body: product })).data;
  const body = {
    ...{ linkType: 'fixed', linkName: 'Tea shop', accountId, settlementToken: 'ethereum::usdc', feeModel: 1 },
    lineItems: [{ itemType: 'product', productId, quantity: 1, unitPrice: 2_500_000 }],
  };
  link = (await world.send('POST', '/payment/link/create', { key, body })).data;
  journal = await ChangeJournal.install(world.database.url);
});
after(async () => {
  await journal.close();
  await pages.close();
  await world.close();
});

const operationOf = (operation: string) => {
  const found = freeOperations.find((each) => each.operation === operation);
  if (found === undefined) throw new Error(`${operation} is not in the table`);
  return found;
};

/** Rows written since the last call. */
async function written(): Promise<{ sessions: number; orders: number }> {
  const changes = await journal.take();
  const inserted = (name: string) =>
    changes.filter(({ table, operation }) => table === name && operation === 'INSERT').length;
  return { sessions: inserted('sessions'), orders: inserted('orders') };
}

let networks = 0;
/** Sends requests of different payers from one network until one is refused. Returns how many were accepted. */
async function askUntilRefused(url: (payer: string) => { url: string; payload: object }, isForm = false) {
  networks += 1;
  const headers = isForm ? { 'sec-fetch-site': 'same-origin' } : {};
  for (let count = 0; ; count += 1) {
    const asked = url(getAddress(`0x${(networks * 10_000 + count + 1).toString(16).padStart(40, 'a')}`));
    const body = isForm
      ? {
          headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
          payload: new URLSearchParams(asked.payload as Record<string, string>).toString(),
        }
      : { payload: asked.payload };
    const response = await pages.inject({
      ...{ method: 'POST', url: asked.url, remoteAddress: `10.3.0.${networks}` },
      ...body,
    });
    if (response.statusCode === 429) return count;
    assert.ok(response.statusCode < 400, `${asked.url} ${response.statusCode} ${response.body}`);
  }
}

async function newSession(): Promise<string> {
  const payload = { linkId: link.linkId, linkVersion: link.versionCode };
  networks += 1;
  const url = '/checkout/api/session';
  const response = await pages.inject({ method: 'POST', url, remoteAddress: `10.4.0.${networks}`, payload });
  return response.json().data.state.sessionId;
}

const { burst } = defaultRateLimits.signedRequests;

test('every operation without a key that writes is in the table of what it can write', () => {
  const tables = [agentApi, checkoutApi, x402Api].flatMap((table) =>
    Object.values(table.routes)
      .filter(({ effect }) => effect === 'create')
      .map(({ method, path }) => `${method} ${table.basePath}${path}`.replace(/\/aipay(\/api\/v1)?/, '')),
  );
  const reads = Object.values(checkoutApi.routes)
    .filter(({ effect }) => effect === 'query')
    .map(({ method, path }) => `${method} ${checkoutApi.basePath}${path}`);
  const forms = routes.filter((route) => route.startsWith('POST ') && !reads.includes(route));
  const known = freeOperations.map(({ operation }) => operation);
  assert.deepEqual([...new Set([...tables, ...forms])].sort(), [...known].sort());
});

for (const [operation, isForm] of [
  ['POST /checkout/api/session', false],
  ['POST /link/:linkId', true],
] as const) {
  test(`${operation}: the rate limits the sessions that one network can begin, and each is one row`, async () => {
    await written();
    const url = isForm ? `/link/${link.linkId}` : '/checkout/api/session';
    const fields = isForm
      ? { linkVersion: link.versionCode }
      : { linkId: link.linkId, linkVersion: link.versionCode };
    const count = await askUntilRefused(() => ({ url, payload: fields }), isForm);
    const { sessions, orders } = operationOf(operation);
    assert.equal(count, burst);
    assert.deepEqual(await written(), { sessions: sessions * count, orders: orders * count });
  });
}

for (const [operation, isForm] of [
  ['POST /checkout/api/prepare', false],
  ['POST /checkout/:sessionId/deposit', true],
] as const) {
  test(`${operation}: the limit bounds the orders of a session that one network can prepare`, async () => {
    const sessionId = await newSession();
    await written();
    const count = await askUntilRefused((payer) => {
      const fields = { tokenId: 'ethereum::usdc', payer, payerEmail: '' };
      return isForm
        ? { url: `/checkout/${sessionId}/deposit`, payload: fields }
        : { url: '/checkout/api/prepare', payload: { sessionId, ...fields } };
    }, isForm);
    const { sessions, orders } = operationOf(operation);
    assert.deepEqual(await written(), { sessions, orders: orders * defaultOrderLimits.ofNetwork });
    assert.ok(count <= burst);
  });
}

test('a request of the AI protocol writes what the table states', async () => {
  const agents = await openLinkWorld();
  try {
    const before = await agents.world.rows();
    const created = await agents.createSession();
    const between = await agents.world.rows();
    await agents.prepare(created);
    const end = await agents.world.rows();
    const grown = (from: typeof end, to: typeof end) => ({
      sessions: Number((to?.sessions ?? 0n) - (from?.sessions ?? 0n)),
      orders: Number((to?.orders ?? 0n) - (from?.orders ?? 0n)),
    });
    const creation = operationOf('POST /payment/session/create');
    const preparation = operationOf('POST /payment/prepare');
    assert.deepEqual(grown(before, between), { sessions: creation.sessions, orders: creation.orders });
    const prepared = grown(between, end);
    assert.equal(prepared.sessions, preparation.sessions);
    assert.ok(prepared.orders <= preparation.orders);
  } finally {
    await agents.world.close();
  }
});

test('each operation lets one network write some thousand rows an hour', () => {
  assert.equal(mostInAnHour(defaultRateLimits.signedRequests), 3_660);
});
