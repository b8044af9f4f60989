import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { statement } from '@florin/pg';
import { type LinkTermsView, maxLinkVersions } from '@florin/protocol/link-history.ts';
import { keyWarningDays } from '@florin/protocol/permission.ts';
import { parseTimestamp } from '@florin/protocol/timestamp.ts';
import { Browser, DashboardWorld, password } from '../../../test/harness/dashboard-world.ts';
import { deepOnly } from '../../../test/harness/deep-only.ts';
import { linkFields } from '../../../test/harness/merchant-routes.ts';
import { addPaidSession, happen, takeBack } from '../../../test/harness/payment-fixture.ts';
import { openShop } from '../../../test/harness/shop.ts';

const insertCollection = statement({
  name: 'summary_test_collection',
  parameters: { orderId: 'text' },
  text: `with sent as (
     insert into sent_transactions (chain_id, wallet, nonce, purpose, recipient, call_data, gas_limit, status, created_at,
       updated_at)
     values (1, '0xcollecting', 1, 'collect', '0xgateway', '0x', 1, 'succeeded', now(), now()) returning transaction_id
   )
   insert into deposit_moves (order_id, move, token, chain_id, status, transaction_id, created_at, updated_at, amount)
   select :orderId, 'collect', '0xtoken', 1, 'succeeded', transaction_id, now(), now(), 5 from sent`,
});

const setLink = statement({
  name: 'summary_test_link',
  parameters: { sessionId: 'text', linkId: 'text' },
  text: 'update sessions set business_id = :linkId where session_id = :sessionId',
});
const tell = statement({
  name: 'summary_test_tell',
  parameters: { exceptionId: 'text', kind: 'text', status: 'text' },
  columns: { session_id: 'text' },
  text: `with kinds as (update exceptions set kind = :kind where exception_id = :exceptionId)
   update sessions set status = :status, signed_once = true
   where session_id = (select session_id from exceptions where exception_id = :exceptionId) returning session_id`,
});

const move = statement({
  name: 'summary_test_move',
  parameters: { exceptionId: 'text', orderId: 'text', sessionId: 'text', kind: 'text' },
  columns: { kind: 'text' },
  text: `update exceptions set order_id = :orderId, session_id = :sessionId, kind = :kind
   where exception_id = :exceptionId returning kind`,
});

let world: DashboardWorld;
before(async () => {
  world = await DashboardWorld.open();
});
after(() => world.close());

/** The owner of a new shop, just signed in. */
async function openDashboard() {
  const shop = await openShop(world.merchants);
  const { email } = await world.addPerson([[shop.merchantId, 'owner']]);
  const browser = new Browser(await world.serve('local'));
  await browser.post('/sign-in/password', { email, password });
  browser.merchantId = shop.merchantId;
  return { ...shop, browser };
}

test('the summary has the payments that are not settled, and what needs attention', async () => {
  const { browser, things, key } = await openDashboard();
  const before = (await browser.get('/summary')).data;
  // The shop has paid sessions, one of them with its refund under way, and exceptions.
  const { order } = await addPaidSession(world.merchants, { key, accountId: things.accountId });
  const more = (await browser.get('/summary')).data;
  const [paidBefore, paid] = [before, more].map(({ onItsWay }) =>
    onItsWay.find(({ status }: { status: string }) => status === 'paid'),
  );
  assert.deepEqual(paid, {
    accountId: things.accountId,
    tokenId: 'ethereum::usdc',
    status: 'paid',
    payments: paidBefore.payments + 1,
    netValue: String(BigInt(paidBefore.netValue) + 10_000_000n),
  });
  await happen(world.merchants, order, 'Settled');
  assert.deepEqual((await browser.get('/summary')).data, before);
  const { exceptions, pausedWebhooks, delayedSettlements, expiringKeys } = before;
  assert.ok(exceptions.ids.includes(things.lateExceptionId));
  // The shop has two late deposits that wait for a decision.
  const undecided = async () => {
    const { count, ids } = (await browser.get('/summary')).data.undecidedExceptions;
    return [count, ids.toSorted()];
  };
  const [late, other] = [things.lateExceptionId, things.otherExceptionId];
  assert.deepEqual(await undecided(), [2, [late, other].toSorted()]);
  assert.equal((await browser.post('/exception/accept', { exceptionId: late })).code, 0);
  assert.deepEqual(await undecided(), [1, [other]]);
  assert.deepEqual(
    [exceptions.count, pausedWebhooks, delayedSettlements, expiringKeys],
    [exceptions.ids.length, { count: 0, ids: [] }, { count: 0, ids: [] }, { count: 0, ids: [] }],
  );
});

test('a payment that its chain took back is on no way and in no sum, and needs attention as that', async () => {
  const { browser, things, key } = await openDashboard();
  const { order, sessionId } = await addPaidSession(world.merchants, { key, accountId: things.accountId });
  const now = Math.floor(world.merchants.clock.now().getTime() / 1_000);
  const facts = async () => {
    const { onItsWay, delayedSettlements, lostPayments } = (await browser.get('/summary')).data;
    const body = { times: [now - 86_400, now + 86_400] };
    const { received } = (await browser.post('/summary/periods', body)).data;
    const sumOf = (rows: { payments: number }[]) => rows.reduce((sum, { payments }) => sum + payments, 0);
    return { onItsWay: sumOf(onItsWay), received: sumOf(received), delayedSettlements, lostPayments };
  };
  const before = await facts();
  await takeBack(world.merchants, order);
  assert.deepEqual(await facts(), {
    onItsWay: before.onItsWay - 1,
    received: before.received - 1,
    delayedSettlements: { count: 0, ids: [] },
    lostPayments: { count: 1, ids: [sessionId] },
  });
  await happen(world.merchants, order, 'Paid');
  assert.deepEqual(await facts(), { ...before, delayedSettlements: { count: 1, ids: [sessionId] } });
});

const disturb = statement({
  name: 'summary_test_disturb',
  parameters: { webhookId: 'text', sessionId: 'text' },
  text: `with paused as (update webhooks set status = 'paused' where webhook_id = :webhookId)
   update sessions set status = 'settlement_pending' where session_id = :sessionId`,
});

test('paused webhooks, delayed settlements and keys that end within two weeks need attention', async () => {
  const { browser, things, merchantId } = await openDashboard();
  const { webhookId, paidSessionId: sessionId } = things;
  await world.merchants.database.db.query(disturb, { webhookId, sessionId });
  const day = 86_400_000;
  const now = world.merchants.clock.now().getTime();
  for (const days of [keyWarningDays - 1, keyWarningDays + 1])
    await world.merchants.addKey(merchantId, {
      preset: 'read_only',
      expiresAt: new Date(now + days * day),
    });
  const { keys } = (await browser.get('/key/list')).data;
  const ending = keys
    .filter(({ expiresAt }: { expiresAt: string }) => Date.parse(expiresAt) < now + keyWarningDays * day)
    .map(({ keyId }: { keyId: string }) => keyId);
  const { pausedWebhooks, delayedSettlements, expiringKeys } = (await browser.get('/summary')).data;
  assert.deepEqual(
    [pausedWebhooks, delayedSettlements, expiringKeys],
    [
      { count: 1, ids: [webhookId] },
      { count: 1, ids: [sessionId] },
      { count: 1, ids: ending },
    ],
  );
});

test('the history of a payment says until when it can be settled, as its order has it, and nothing once it is settled', async () => {
  const { browser, things, key } = await openDashboard();
  const { sessionId, order } = await addPaidSession(world.merchants, { key, accountId: things.accountId });
  const settleBy = async () => (await browser.get(`/session/history/${sessionId}`)).data.settleBy;
  assert.equal(parseTimestamp(await settleBy()).getTime(), Number(order.order.reclaimAt) * 1_000);
  await happen(world.merchants, order, 'Settled');
  assert.equal(await settleBy(), '');
});

test('the history of a payment that waits for a vault says no time: the money has left the gateway', async () => {
  const { browser, things, key } = await openDashboard();
  const { accountId } = things;
  const shop = { key, accountId, settlementToken: 'base::usdc' };
  const { sessionId, order } = await addPaidSession(world.merchants, shop);
  await happen(world.merchants, order, 'Settled');
  const { session } = (await browser.get(`/session/${sessionId}`)).data;
  assert.equal(session.status, 'paid');
  const { chainEvents, settleBy } = (await browser.get(`/session/history/${sessionId}`)).data;
  assert.deepEqual(
    chainEvents.map(({ name }: { name: string }) => name),
    ['Paid', 'Settled'],
  );
  assert.equal(settleBy, '');
});

test('the history of a payment says that the chain took it back', async () => {
  const { browser, things, key } = await openDashboard();
  const { sessionId, order } = await addPaidSession(world.merchants, { key, accountId: things.accountId });
  const told = async () => {
    const { doubt, droppedEvents } = (await browser.get(`/session/history/${sessionId}`)).data;
    return [doubt, ...droppedEvents.map(({ name }: { name: string }) => name)];
  };
  assert.deepEqual(await told(), ['']);
  await takeBack(world.merchants, order);
  assert.deepEqual(await told(), ['lost', 'Paid']);
});

test('a list tells members which payments are deposits, whose payer is a refund address, and API keys nothing of it', async () => {
  const { browser, things, key } = await openDashboard();
  const accountId = things.accountId;
  const [deposit, direct] = [
    await addPaidSession(world.merchants, { key, accountId }),
    await addPaidSession(world.merchants, { key, accountId }),
  ];
  await world.merchants.database.db.query(insertCollection, { orderId: deposit.order.orderId });
  const marks = (sessions: readonly { session: { sessionId: string }; isDeposit?: boolean }[]) =>
    [deposit, direct].map(
      ({ sessionId }) => sessions.find(({ session }) => session.sessionId === sessionId)?.isDeposit,
    );
  const read = async (path: string) => (await browser.get(path)).data;
  assert.deepEqual(marks((await read('/session/list/all/1/50')).sessions), [true, undefined]);
  assert.deepEqual(
    marks([await read(`/session/${deposit.sessionId}`), await read(`/session/${direct.sessionId}`)]),
    [true, undefined],
  );
  const found = (await browser.post('/session/search', { status: 'paid' })).data;
  assert.deepEqual(marks(found.sessions), [true, undefined]);
  const { data } = await world.merchants.send('GET', '/session/list/all/1/50', { key });
  assert.deepEqual(marks(data.sessions), [undefined, undefined]);
});

test('a list tells members the name of each link, and what came to a session but did not pay it; API keys read both elsewhere', async () => {
  const { browser, things, key } = await openDashboard();
  const { linkId, lateExceptionId: exceptionId } = things;
  const { sessionId, order } = await addPaidSession(world.merchants, { key, accountId: things.accountId });
  await world.merchants.database.db.query(setLink, { sessionId, linkId });
  const setSession = (status: string, kind: string) =>
    world.merchants.database.db.query(tell, { exceptionId, kind, status });
  const [row] = await setSession('expired', 'late');
  const expired = row?.session_id ?? '';
  interface Shown {
    readonly session: { readonly sessionId: string };
    readonly linkName?: string;
    readonly exceptions?: readonly { readonly exceptionId: string }[];
  }
  const told = (views: readonly Shown[]) =>
    [sessionId, expired].map((id) => {
      const view = views.find(({ session }) => session.sessionId === id);
      return [view?.linkName, view?.exceptions?.map((each) => each.exceptionId)];
    });
  const meant = [
    ['Tea', undefined],
    [undefined, [exceptionId]],
  ];
  const read = async (path: string) => (await browser.get(path)).data;
  assert.deepEqual(told((await read('/session/list/all/1/50')).sessions), meant);
  assert.deepEqual(told([await read(`/session/${sessionId}`), await read(`/session/${expired}`)]), meant);
  const { data } = await world.merchants.send('GET', '/session/list/all/1/50', { key });
  assert.deepEqual(told(data.sessions), [
    [undefined, undefined],
    [undefined, undefined],
  ]);
  // What came of the right token stands among the deposits of a session that waits.
  for (const [kind, shown] of [
    ['wrong_token', [exceptionId]],
    ['underpaid', undefined],
  ] as const) {
    await setSession('initialized', kind);
    assert.deepEqual(told((await read('/session/list/all/1/50')).sessions)[1], [undefined, shown], kind);
  }
  // What came beside a payment is told; what is about the payment itself is not.
  for (const [kind, shown] of [
    ['duplicate', [exceptionId]],
    ['unsettled', undefined],
  ] as const) {
    const { orderId } = order;
    await world.merchants.database.db.query(move, { exceptionId, orderId, sessionId, kind });
    assert.deepEqual(told((await read('/session/list/all/1/50')).sessions)[0], ['Tea', shown], kind);
  }
});

test('the sums of a period have what was paid and settled in it, and refuse times in disorder', async () => {
  const { browser, things, key } = await openDashboard();
  const now = Math.floor(world.merchants.clock.now().getTime() / 1_000);
  const day = 86_400;
  // The chain's time is the clock's within a day; the shop's own payments are there already.
  const times = [now - 3 * day, now - 2 * day, now + 2 * day];
  const before = (await browser.post('/summary/periods', { times })).data;
  const { order } = await addPaidSession(world.merchants, { key, accountId: things.accountId });
  await happen(world.merchants, order, 'Settled');
  const after = (await browser.post('/summary/periods', { times })).data;
  const { totalValue, feeValue, netValue } = order.amounts;
  assert.deepEqual(differenceOf(before.received, after.received), [
    { period: 1, tokenId: 'ethereum::usdc', payments: 1, totalValue },
  ]);
  assert.deepEqual(differenceOf(before.settled, after.settled), [
    { period: 1, tokenId: 'ethereum::usdc', payments: 1, feeValue, netValue },
  ]);
  const earlier = [now - 3 * day, now - 2 * day];
  assert.deepEqual((await browser.post('/summary/periods', { times: earlier })).data, {
    received: [],
    settled: [],
  });
  for (const wrong of [[now, now], [now, now - 1], [now - 101 * day, now], [now]])
    assert.equal((await browser.post('/summary/periods', { times: wrong })).code, 400101);
});

interface SumRow {
  readonly [name: string]: string | number;
}

/** What was added to the rows; every row has one period and one token. */
function differenceOf(before: readonly SumRow[], after: readonly SumRow[]): object[] {
  return after.map(({ period = 0, tokenId = '', payments = 0, ...values }) => {
    const row = before.find((each) => each['period'] === period && each['tokenId'] === tokenId);
    const added = Object.entries(values).map(([name, value]) => [
      name,
      BigInt(value) - BigInt(row?.[name] ?? 0),
    ]);
    return {
      period,
      tokenId,
      payments: Number(payments) - Number(row?.['payments'] ?? 0),
      ...Object.fromEntries(added),
    };
  });
}

test('a deleted link is gone for every reader, and its event says that it was disabled', async () => {
  const { browser, things, key } = await openDashboard();
  const { data: link } = await browser.post('/payment/link/create', linkFields(things));
  assert.equal((await browser.post('/payment/link/delete', { linkId: link.linkId })).code, 0);
  const read = await world.merchants.send('GET', `/payment/link/${link.linkId}`, { key });
  assert.equal(read.code, 100102);
  assert.equal((await browser.post('/payment/link/delete', { linkId: link.linkId })).code, 100102);
  assert.equal((await browser.post('/payment/link/enable', { linkId: link.linkId })).code, 100102);
  const events = await world.merchants.eventsOf(link.linkId);
  assert.deepEqual(
    events.map(({ type }) => type),
    ['payment.link.created', 'payment.link.disabled'],
  );
  assert.equal((await browser.post('/payment/link/delete', { linkId: 'lnk_none' })).code, 100101);
});

test('a link’s history has every version with its terms, also after its end', async () => {
  const { browser, things } = await openDashboard();
  const { clock } = world.merchants;
  const fields = linkFields(things);
  const { linkId } = (await browser.post('/payment/link/create', fields)).data;
  const history = async () => (await browser.get(`/payment/link/history/${linkId}`)).data;
  const first = await history();
  assert.deepEqual([first.status, first.versions.length], ['active', 1]);
  clock.time += 60_000;
  const update = async (changed: object) =>
    assert.equal((await browser.post('/payment/link/update', { linkId, ...fields, ...changed })).code, 0);
  // An identical update and a change of status make no version.
  await update({});
  await browser.post('/payment/link/disable', { linkId });
  assert.equal((await history()).versions.length, 1);
  await update({ linkName: 'Green tea', maxPayments: 5 });
  clock.time += 60_000;
  await browser.post('/product/update', { productId: things.productId, name: 'Leaves', commonPrices: [1] });
  await update({ linkName: 'Leaves' });
  await browser.post('/payment/link/delete', { linkId });
  const { status, createAt, versions } = await history();
  const shown = versions.map(({ terms }: { terms: LinkTermsView }) => [
    terms.linkName,
    terms.maxPayments,
    terms.lineItems.items[0]?.productData?.productName,
  ]);
  // Earlier versions are as they were when they were replaced, their products too.
  assert.deepEqual(shown, [
    ['Leaves', undefined, 'Leaves'],
    ['Green tea', 5, 'Leaves'],
    ['Tea', undefined, 'Tea'],
  ]);
  assert.deepEqual(
    [status, versions[2].beganAt, versions[2].versionCode],
    ['deleted', createAt, first.versions[0].versionCode],
  );
  assert.equal((await browser.get('/payment/link/history/lnk_none')).code, 100101);
  const other = await openDashboard();
  assert.equal((await other.browser.get(`/payment/link/history/${linkId}`)).code, 100101);
});

test('the oldest of more than a hundred earlier versions is dropped', deepOnly, async () => {
  const { browser, things } = await openDashboard();
  const fields = linkFields(things);
  const { linkId } = (await browser.post('/payment/link/create', fields)).data;
  for (let count = 0; count <= maxLinkVersions + 1; count += 1)
    await browser.post('/payment/link/update', { linkId, ...fields, linkName: `Tea ${count}` });
  const { versions } = (await browser.get(`/payment/link/history/${linkId}`)).data;
  const names = versions.map(({ terms }: { terms: LinkTermsView }) => terms.linkName);
  assert.deepEqual(
    [names.length, names[0], names.at(-1)],
    [maxLinkVersions + 1, `Tea ${maxLinkVersions + 1}`, 'Tea 1'],
  );
});

test(
  'a member’s views of payments are their own, are replaced by name, and are at most twenty',
  deepOnly,
  async () => {
    const { browser, merchantId } = await openDashboard();
    const other = await world.addPerson([[merchantId, 'viewer']]);
    const colleague = new Browser(await world.serve('local'));
    await colleague.post('/sign-in/password', { email: other.email, password });
    const listOf = async (person: Browser) => (await person.get(`/me/view/list/${merchantId}`)).data.views;
    const save = (name: string, filters: object) =>
      browser.post('/me/view/save', { merchantId, name, filters });

    assert.equal((await save('Large', { amountFrom: '100', status: 'completed' })).code, 0);
    assert.equal((await save('Large', { amountFrom: '500' })).code, 0);
    assert.deepEqual(await listOf(browser), [{ name: 'Large', filters: { amountFrom: '500' } }]);
    assert.deepEqual(await listOf(colleague), []);
    assert.equal((await save('Odd', { colour: 'red' })).code, 400101);
    assert.equal((await save('', {})).code, 400101);

    for (let count = 2; count <= 20; count += 1) await save(`View ${count}`, { text: 'tea' });
    const tooMany = await save('One more', { text: 'tea' });
    assert.deepEqual([tooMany.code, (await listOf(browser)).length], [400101, 20]);
    // Its own name still takes other filters.
    assert.equal((await save('Large', { amountFrom: '900' })).code, 0);

    const remove = (name: string) => browser.post('/me/view/remove', { merchantId, name });
    assert.deepEqual([(await remove('View 2')).code, (await remove('View 2')).code], [0, 0]);
    assert.equal((await save('One more', { text: 'tea' })).code, 0);

    const foreign = await world.merchants.addMerchant();
    const stranger = await browser.post('/me/view/save', { merchantId: foreign, name: 'Mine', filters: {} });
    assert.equal(stranger.code, 200205);
    assert.deepEqual((await browser.get(`/me/view/list/${foreign}`)).data, { views: [] });
  },
);
