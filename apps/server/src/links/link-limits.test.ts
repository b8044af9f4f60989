import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { unixSeconds } from '#outside/clock.ts';
import { createLinkSession } from '#sessions/session.ts';
import { untilLockWaiter } from '../../test/harness/lock-waiter.ts';
import { MerchantWorld } from '../../test/harness/merchant-fixture.ts';
import { addOrder, happen } from '../../test/harness/payment-fixture.ts';
import { findLink } from './link-lookup.ts';
import { cachedLinkReader } from './link-reader.ts';
import { endLinks } from './link-status.ts';

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
const get = (path: string) => world.send('GET', path, { key });

function linkBody(changes: object = {}) {
  return {
    ...{ linkType: 'custom', linkName: 'Donate', accountId, settlementToken: 'ethereum::usdc', feeModel: 2 },
    lineItems: [{ itemType: 'user_priced' }],
    ...changes,
  };
}

async function addLink(limits: object): Promise<string> {
  const created = await post('/payment/link/create', linkBody(limits));
  assert.equal(created.code, 0, JSON.stringify(created));
  return created.data.linkId;
}

const change = (linkId: string, changes: object) =>
  post('/payment/link/update', linkBody({ linkId, ...changes }));

/** An order of a session of the link, which its payer can pay. */
async function addLinkOrder(linkId: string) {
  const { db } = world.database;
  const sessionId = await db.transaction(async (transaction) => {
    const link = await findLink(transaction, linkId, world.clock.now());
    assert.ok(link !== undefined);
    const purchase = { link, paymentValue: 10_000_000n as typeof link.amount };
    return (await createLinkSession(transaction, world.deps, purchase)).sessionId;
  });
  return addOrder(world, sessionId);
}

const pay = async (linkId: string) => happen(world, await addLinkOrder(linkId), 'Paid');

/** What a read shows of the link's limits. */
async function limitsOf(linkId: string) {
  const { status, disabledReason, maxPayments, paymentCount, activeUntil } = (
    await get(`/payment/link/${linkId}`)
  ).data;
  return { status, disabledReason, maxPayments, paymentCount, activeUntil };
}

/** The types of the link's events after its creation, oldest first. */
async function eventsOf(linkId: string): Promise<string[]> {
  const { events } = (await get('/event/list/1/100')).data;
  return events
    .filter((event: { data: { link?: { linkId: string } } }) => event.data.link?.linkId === linkId)
    .map((event: { type: string; data: { link: { disabledReason?: string } } }) =>
      [event.type, event.data.link.disabledReason ?? []].flat().join(' '),
    )
    .toReversed()
    .slice(1);
}

const pass = (seconds: number) => {
  world.clock.time += seconds * 1000;
};
const noEnd = { activeUntil: undefined };
const disabled = 'payment.link.disabled limit_reached';

test('a link is disabled by the final payment that reaches its limit, and its open sessions stay payable', async () => {
  const linkId = await addLink({ maxPayments: 2 });
  const last = await addLinkOrder(linkId);
  await pay(linkId);
  assert.deepEqual(await limitsOf(linkId), {
    ...{ status: 'active', disabledReason: undefined, maxPayments: 2, paymentCount: 1, ...noEnd },
  });
  assert.deepEqual(await eventsOf(linkId), []);
  await pay(linkId);
  const full = { status: 'disabled', disabledReason: 'limit_reached', maxPayments: 2, ...noEnd };
  assert.deepEqual(await limitsOf(linkId), { ...full, paymentCount: 2 });
  assert.deepEqual(await eventsOf(linkId), [disabled]);
  await happen(world, last, 'Paid');
  assert.deepEqual(await limitsOf(linkId), { ...full, paymentCount: 3 });
  assert.deepEqual(await eventsOf(linkId), [disabled]);
});

test('only the payment that makes a session paid counts, once: no payment that is not final, and no second one', async () => {
  const linkId = await addLink({ maxPayments: 5 });
  const order = await addLinkOrder(linkId);
  const others = await addOrder(world, order.sessionId, `0x${'e5'.repeat(20)}`);
  await happen(world, order, 'Paid', { isFinal: false });
  assert.equal((await limitsOf(linkId)).paymentCount, 0);
  await happen(world, order, 'Paid');
  // The same final block again, and another payer's payment of the same session.
  await happen(world, order, 'Paid');
  await happen(world, others, 'Paid');
  assert.equal((await limitsOf(linkId)).paymentCount, 1);
});

test('two payments that become final at the same moment both count, and the link is disabled once', async () => {
  const linkId = await addLink({ maxPayments: 2 });
  const [first, second] = [await addLinkOrder(linkId), await addLinkOrder(linkId)];
  let other: Promise<unknown> = Promise.resolve();
  await happen(world, first, 'Paid', {
    meanwhile: async () => {
      other = happen(world, second, 'Paid');
      await untilLockWaiter(world.database.db);
    },
  });
  await other;
  const { status, paymentCount } = await limitsOf(linkId);
  assert.deepEqual([status, paymentCount], ['disabled', 2]);
  assert.deepEqual(await eventsOf(linkId), [disabled]);
});

test('a transaction that fails counts no payment', async () => {
  const linkId = await addLink({ maxPayments: 2 });
  const order = await addLinkOrder(linkId);
  const meanwhile = () => Promise.reject(new Error('the process dies'));
  await assert.rejects(happen(world, order, 'Paid', { meanwhile }), /the process dies/);
  await happen(world, order, 'Paid');
  assert.equal((await limitsOf(linkId)).paymentCount, 1);
});

test('a link whose new limit is reached already is disabled, and is enabled only under a higher one', async () => {
  const linkId = await addLink({});
  await pay(linkId);
  assert.deepEqual(await limitsOf(linkId), {
    ...{ status: 'active', disabledReason: undefined, maxPayments: undefined, paymentCount: undefined },
    ...noEnd,
  });
  assert.equal((await change(linkId, { maxPayments: 1 })).code, 0);
  assert.deepEqual(await eventsOf(linkId), ['payment.link.updated', disabled]);
  assert.equal((await post('/payment/link/enable', { linkId })).code, 100103);
  assert.equal((await change(linkId, { maxPayments: 2 })).code, 0);
  assert.equal((await limitsOf(linkId)).status, 'disabled');
  assert.equal((await post('/payment/link/enable', { linkId })).code, 0);
  const { status, paymentCount } = await limitsOf(linkId);
  assert.deepEqual([status, paymentCount], ['active', 1]);
});

test('a link ends at its time: reads and caches show that at once, and the event follows once', async () => {
  const { db } = world.database;
  const end = () => db.transaction((transaction) => endLinks(transaction, world.deps, 10));
  const activeUntil = unixSeconds(world.clock.now()) + 60;
  const linkId = await addLink({ activeUntil });
  const reader = cachedLinkReader(db, world.clock);
  assert.equal((await reader.find(linkId))?.link.status, 'active');
  pass(59);
  assert.equal(await end(), 0);
  assert.equal((await reader.find(linkId))?.link.status, 'active');
  pass(1);
  const ended = { status: 'disabled', disabledReason: 'ended', activeUntil };
  const seen = { ...ended, maxPayments: undefined, paymentCount: undefined };
  assert.deepEqual(await limitsOf(linkId), seen);
  assert.equal((await reader.find(linkId))?.link.status, 'disabled');
  assert.equal((await post('/payment/link/enable', { linkId })).code, 100103);
  assert.deepEqual([await end(), await end()], [1, 0]);
  assert.deepEqual(await limitsOf(linkId), seen);
  assert.deepEqual(await eventsOf(linkId), ['payment.link.disabled ended']);
  // A merchant renames an ended link with what a read shows; a new end must be in the future.
  assert.equal((await change(linkId, { activeUntil, linkName: 'Over' })).code, 0);
  assert.equal((await change(linkId, { activeUntil: activeUntil - 1 })).code, 400101);
  assert.equal((await change(linkId, { activeUntil: activeUntil + 60 })).code, 0);
  assert.equal((await post('/payment/link/enable', { linkId })).code, 0);
  assert.equal((await limitsOf(linkId)).status, 'active');
});

for (const [name, limits] of Object.entries({
  'no payments': { maxPayments: 0 },
  'too many payments': { maxPayments: 1_000_001 },
  'half a payment': { maxPayments: 1.5 },
  'payments as text': { maxPayments: '5' },
  'an end in the past': { activeUntil: 1 },
  'an end in milliseconds': { activeUntil: 4_000_000_000_000 },
  'a negative end': { activeUntil: -1 },
  'an end as text': { activeUntil: '2031-01-01' },
})) {
  test(`a link with ${name} is refused, and names the field`, async () => {
    const { code, message } = await post('/payment/link/create', linkBody(limits));
    assert.equal(code, 400101);
    assert.match(message, new RegExp(Object.keys(limits).join()));
  });
}
