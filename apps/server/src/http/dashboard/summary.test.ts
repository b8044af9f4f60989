import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Browser, DashboardWorld, password } from '../../../test/harness/dashboard-world.ts';
import { linkFields } from '../../../test/harness/merchant-routes.ts';
import { addPaidSession, happen } from '../../../test/harness/payment-fixture.ts';
import { openShop } from '../../../test/harness/shop.ts';

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
  assert.deepEqual(
    [exceptions.count, pausedWebhooks, delayedSettlements, expiringKeys],
    [exceptions.ids.length, { count: 0, ids: [] }, { count: 0, ids: [] }, { count: 0, ids: [] }],
  );
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
