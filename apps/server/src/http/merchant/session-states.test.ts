import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { statement } from '@florin/pg';
import type { SessionStatus } from '@florin/protocol/session.ts';
import { expireSessions } from '#sessions/session.ts';
import { MerchantWorld } from '../../../test/harness/merchant-fixture.ts';

/** Sets the state directly, because the test covers the API's answer in that state. */
const setState = statement({
  name: 'session_states_test_set',
  parameters: { sessionId: 'text', status: 'text', signedOnce: 'bool' },
  text: `update sessions set status = :status, signed_once = :signedOnce where session_id = :sessionId`,
});

let world: MerchantWorld;
before(async () => {
  world = await MerchantWorld.open();
});
after(() => world.close());

interface Shop {
  readonly key: string;
  readonly accountId: string;
}

async function openShop(): Promise<Shop> {
  const merchantId = await world.addMerchant();
  return { key: await world.addKey(merchantId), accountId: await world.addAccount(merchantId) };
}

async function addSession({ key, accountId }: Shop): Promise<string> {
  const productData = { productName: 'Cup' };
  const body = {
    accountId,
    settlementToken: 'ethereum::usdc',
    lineItems: [{ itemType: 'one_time', quantity: 1, unitPrice: 5_000, productData }],
  };
  return (await world.send('POST', '/session/checkout/create', { key, body })).data.sessionId;
}

async function addSessionIn(shop: Shop, status: SessionStatus, isSigned = status !== 'initialized') {
  const sessionId = await addSession(shop);
  await world.database.db.query(setState, { sessionId, status, signedOnce: isSigned });
  return sessionId;
}

const refusals: [state: string, status: SessionStatus, isSigned: boolean, code: number][] = [
  // proves S7.4, W4.2
  ['expired', 'expired', false, 100203],
  // proves W4.2
  ['expired and signed', 'expired', true, 100203],
  // proves S7.4, W4.2
  ['paid and signed', 'paid', true, 100204],
  // proves S7.4
  ['settling and signed', 'settling', true, 100204],
  // proves S7.4
  ['completed and signed', 'completed', true, 100204],
  // proves S7.4
  ['settlement_pending and signed', 'settlement_pending', true, 100204],
  // proves S7.4
  ['cancelled', 'cancelled', false, 100205],
  // proves S7.5
  ['initialized and signed', 'initialized', true, 100207],
];
for (const [state, status, isSigned, code] of refusals) {
  test(`cancelling a session that is ${state} is refused with ${code}, and leaves its state`, async () => {
    const shop = await openShop();
    const sessionId = await addSessionIn(shop, status, isSigned);
    const { key } = shop;
    const reply = await world.send('POST', '/session/checkout/cancel', { key, body: { sessionId } });
    assert.deepEqual([reply.status, reply.code, reply.data], [200, code, null]);
    const { session } = (await world.send('GET', `/session/${sessionId}`, { key })).data;
    assert.deepEqual([session.status, session.signedOnce], [status, isSigned ? 1 : 0]);
    assert.deepEqual(
      (await world.eventsOf(sessionId)).map(({ type }) => type),
      ['session.created'],
    );
  });
}

// proves S3.3, W6.8
test('an unsigned session expires at its time, not before, and cannot be cancelled then', async () => {
  const shop = await openShop();
  const sessionId = await addSession(shop);
  const read = async () =>
    (await world.send('GET', `/session/${sessionId}`, { key: shop.key })).data.session.status;
  const expire = () => world.database.db.transaction((each) => expireSessions(each, world.deps, 100));
  world.clock.time += 1_799_000;
  await expire();
  assert.equal(await read(), 'initialized');
  world.clock.time += 1_000;
  await expire();
  assert.equal(await read(), 'expired');
  assert.deepEqual(
    (await world.eventsOf(sessionId)).map(({ type, sequence }) => [type, sequence]),
    [
      ['session.created', 1],
      ['session.expired', 2],
    ],
  );
  const cancelled = await world.send('POST', '/session/checkout/cancel', {
    key: shop.key,
    body: { sessionId },
  });
  assert.equal(cancelled.code, 100203);
});

const lists: [SessionStatus, path: string][] = [
  ['initialized', 'initialized'],
  ['paid', 'paid'],
  ['settling', 'settling'],
  ['completed', 'completed'],
  ['cancelled', 'cancelled'],
  ['expired', 'expired'],
  ['settlement_pending', 'settlement/pending'],
];

// proves S4.20, W1.12
test('a list by status has exactly the sessions in that status, and the full list has all', async () => {
  const shop = await openShop();
  const ids = new Map<string, string[]>();
  const all: string[] = [];
  for (const [status] of [...lists, ...lists.toReversed()]) {
    const sessionId = await addSessionIn(shop, status);
    ids.set(status, [sessionId, ...(ids.get(status) ?? [])]);
    all.unshift(sessionId);
  }
  const shown = async (path: string) => {
    const { data } = await world.send('GET', `/session/list/${path}/1/100`, { key: shop.key });
    const views = data.sessions as { session: { sessionId: string; status: string } }[];
    return { total: data.total, views: views.map(({ session }) => [session.sessionId, session.status]) };
  };
  for (const [status, path] of lists) {
    const views = (ids.get(status) ?? []).map((sessionId) => [sessionId, status]);
    assert.deepEqual(await shown(path), { total: 2, views }, status);
  }
  const everything = await shown('all');
  assert.deepEqual([everything.total, everything.views.map(([sessionId]) => sessionId)], [14, all]);
});

// proves W1.5
test('new rows shift the page windows, and the order stays', async () => {
  const shop = await openShop();
  const page = async (number: number) => {
    const { data } = await world.send('GET', `/session/list/all/${number}/2`, { key: shop.key });
    return data.sessions.map(({ session }: { session: { sessionId: string } }) => session.sessionId);
  };
  const [first, second, third] = [await addSession(shop), await addSession(shop), await addSession(shop)];
  assert.deepEqual([await page(1), await page(2)], [[third, second], [first]]);
  const fourth = await addSession(shop);
  assert.deepEqual(
    [await page(1), await page(2)],
    [
      [fourth, third],
      [second, first],
    ],
  );
});
