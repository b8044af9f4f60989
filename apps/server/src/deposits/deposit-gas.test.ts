import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import type { Hex } from '@florin/protocol/order.ts';
import { findDecisions, raise } from '#exceptions/exception.ts';
import type { StoredOrder } from '#orders/stored-order.ts';
import { silentLog } from '#telemetry/log.ts';
import { DepositMoves } from '../../test/harness/deposit-moves.ts';
import { findExhaustedBudgets } from './deposit-gas.ts';
import { add, collect, type MoveDecision, sendBack } from './deposit-move.ts';
import { checkBudgets } from './report.ts';

let moves: DepositMoves;
before(async () => {
  moves = await DepositMoves.open();
});
after(() => moves.close());
beforeEach(() => {
  moves.begin();
  moves.node.collectReverts = '0x00';
});

let payers = 0;
/** An order of a new payer. */
async function orderOfNewPayer(): Promise<StoredOrder> {
  payers += 1;
  return moves.newOrder(undefined, `0x${payers.toString(16).padStart(40, 'a')}`);
}

async function ordersOf(count: number, payer?: Hex): Promise<StoredOrder[]> {
  const orders: StoredOrder[] = [];
  for (let made = 0; made < count; made += 1)
    orders.push(payer === undefined ? await orderOfNewPayer() : await moves.newOrder(undefined, payer));
  return orders;
}

const boundedBy = (collections: number, returns: number) =>
  moves.deps({ depositBudgets: { collections, returns } });

const collectWithin = (collections: number, order: StoredOrder, decided?: MoveDecision) =>
  collect(boundedBy(collections, 0), moves.chain, order, decided ?? { during: 'initialized' });

const sendBackWithin = (returns: number, order: StoredOrder) =>
  sendBack(boundedBy(0, returns), moves.chain, order, moves.usdc.address);

const countOf = (purpose: string) => moves.sent.filter((each) => each.purpose === purpose).length;

test('collections and returns of a link each stay within a day’s gas, even when requested at once', async () => {
  const orders = await ordersOf(8);
  const collectAll = () => Promise.all(orders.map((order) => collectWithin(350, order)));
  const sendAllBack = () => Promise.all(orders.map((order) => sendBackWithin(250, order)));
  await collectAll();
  await sendAllBack();
  assert.deepEqual([countOf('collect'), countOf('rescue')], [3, 2]);
  moves.world.clock.time += 86_400_001;
  await sendAllBack();
  assert.deepEqual([countOf('collect'), countOf('rescue')], [3, 4]);
});

test('an addition reserves the gas of its collection', async () => {
  moves.begin();
  const addBy = (collections: number, order: StoredOrder) =>
    add(boundedBy(collections, 0), moves.chain, order, { most: 20_000n, during: 'initialized' });
  const order = await moves.newOrder();
  assert.equal(await addBy(200_099, order), false);
  assert.equal(await addBy(200_100, order), true);
  moves.node.collectReverts = '0x00';
  await collectWithin(200_100, await moves.newOrder());
  await collectWithin(200_100, order);
  assert.deepEqual(
    moves.sent.map(({ purpose }) => purpose),
    ['add', 'collect'],
  );
});

test('a repeated return counts each time', async () => {
  const order = await moves.newOrder();
  for (let count = 0; count < 4; count += 1) {
    await sendBackWithin(4_000, order);
    await moves.failAll();
    moves.world.clock.time += 3_600_000;
  }
  assert.equal(moves.sent.length, 2);
});

test('a payer with many returns uses only a share of the budget, and holds up no other payer', async () => {
  // The budget has forty returns, and the share of a payer two.
  const restless = await ordersOf(10, `0x${'e1'.repeat(20)}`);
  for (const order of restless) await sendBackWithin(4_000, order);
  assert.equal(countOf('rescue'), 2);
  const others = await ordersOf(40);
  await Promise.all(others.map((order) => sendBackWithin(4_000, order)));
  assert.equal(countOf('rescue'), 40);
  moves.world.clock.time += 86_400_001;
  for (const order of restless) await sendBackWithin(4_000, order);
  assert.equal(countOf('rescue'), 42);
});

test('the second half of the budget gives each payer one return', async () => {
  const crowd: StoredOrder[][] = [];
  for (let count = 0; count < 15; count += 1) {
    const first = await orderOfNewPayer();
    crowd.push([first, await moves.newOrder(undefined, first.order.payer)]);
  }
  for (const [first, second] of crowd) {
    assert.ok(first !== undefined && second !== undefined);
    await sendBackWithin(4_000, first);
    await sendBackWithin(4_000, second);
  }
  // Ten of them twice, then five once.
  assert.equal(countOf('rescue'), 25);
  const others = await ordersOf(15);
  for (const order of others) await sendBackWithin(4_000, order);
  assert.equal(countOf('rescue'), 40);
});

test('an exhausted budget is logged once, and once when it has room again', async () => {
  const orders = await ordersOf(6);
  const check = () => checkBudgets(boundedBy(0, 250), { collections: 0, returns: 250 });
  for (let round = 0; round < 3; round += 1) {
    for (const order of orders) await sendBackWithin(250, order);
    await check();
  }
  assert.deepEqual(moves.logged, ['deposits.gas_exhausted']);
  moves.world.clock.time += 86_400_001;
  await check();
  await check();
  assert.deepEqual(moves.logged, ['deposits.gas_exhausted', 'deposits.gas_available']);
  // Two returns of a day fit, and the next is logged again.
  for (const order of orders) await sendBackWithin(250, order);
  assert.equal(moves.logged.at(-1), 'deposits.gas_exhausted');
});

test('exhausted shares of payers are logged once a day for a link', async () => {
  for (const digit of ['a', 'b'])
    for (const order of await ordersOf(4, `0x${digit.repeat(40)}`)) await sendBackWithin(4_000, order);
  assert.deepEqual(moves.logged, ['deposits.payer_gas_exhausted']);
});

test('operators can list exhausted budgets', async () => {
  const { clock } = moves.world;
  const budgets = { collections: 10_000_000, returns: 200_300 };
  const find = () => findExhaustedBudgets(moves.world.database.db, { clock, budgets, limit: 5 });
  const orders = await ordersOf(4);
  for (const order of orders.slice(0, 3)) await sendBackWithin(200_300, order);
  assert.deepEqual(await find(), []);
  for (const order of orders) await sendBackWithin(200_300, order);
  const { merchantId } = moves;
  assert.deepEqual(await find(), [{ owner: merchantId, name: 'returns', spent: 400n, budget: 200_300n }]);
});

/** Accepts an order's deposit as the link's policy does, with its collection. */
function accepting(order: StoredOrder): MoveDecision {
  const deps = { ...moves.world.deps, log: silentLog };
  return {
    during: 'expired',
    promise: async (transaction, session) => {
      await raise(transaction, deps, { session, order, kind: 'late', txHash: '', decision: 'accept' });
    },
  };
}

async function decisionOf({ orderId }: StoredOrder): Promise<string | undefined> {
  return (await findDecisions(moves.world.database.db, [orderId])).get(orderId)?.decision;
}

test('a late deposit is accepted only when there is gas to collect it', async () => {
  const order = await moves.newOrder();
  await moves.expire(order);
  await collectWithin(99, order, accepting(order));
  assert.deepEqual([moves.sent.length, await decisionOf(order)], [0, undefined]);
  await collectWithin(100, order, accepting(order));
  assert.deepEqual([moves.sent.length, await decisionOf(order)], [1, 'accept']);
});

test('the acceptance and the collection of a deposit are stored together or not at all', async () => {
  const order = await moves.newOrder();
  await moves.expire(order);
  const deps = boundedBy(100, 0);
  const failing = {
    ...deps,
    sender: { ...deps.sender, record: () => Promise.reject(new Error('the signer is away')) },
  };
  const attempt = collect(failing, moves.chain, order, accepting(order));
  await assert.rejects(attempt, /the signer is away/);
  assert.equal(await decisionOf(order), undefined);
});

test('an accepted deposit is collected even when the day’s gas is exhausted', async () => {
  const order = await moves.newOrder();
  await moves.expire(order);
  await collectWithin(100, order, accepting(order));
  // Its first collection fails, and other collections have used up the budget.
  await moves.failAll();
  await collectWithin(100, order, accepting(order));
  assert.equal(moves.sent.length, 2);
  const other = await moves.newOrder();
  await moves.expire(other);
  await collectWithin(100, other, accepting(other));
  assert.equal(moves.sent.length, 2);
});

test('a merchant’s totals limit its collections and returns, also of promised deposits', async () => {
  const totals = { payments: { perMerchant: 300, all: 600 }, returns: { perMerchant: 200, all: 400 } };
  const deps = moves.deps({ depositBudgets: { collections: 1e9, returns: 1e9 }, totals });
  const orders = await ordersOf(6);
  for (const order of orders) await moves.expire(order);
  await Promise.all(orders.map((order) => collect(deps, moves.chain, order, accepting(order))));
  const decisions = await Promise.all(orders.map(decisionOf));
  assert.deepEqual([countOf('collect'), decisions.filter((each) => each === 'accept').length], [3, 3]);
  const sendAllBack = () =>
    Promise.all(orders.map((order) => sendBack(deps, moves.chain, order, moves.usdc.address)));
  await sendAllBack();
  assert.equal(countOf('rescue'), 2);
  moves.world.clock.time += 25 * 3_600_000;
  await sendAllBack();
  assert.equal(countOf('rescue'), 4);
});

test('an addition reserves the gas of its collection in the totals', async () => {
  moves.begin();
  const totals = { payments: { perMerchant: 200_150, all: 400_300 }, returns: { perMerchant: 0, all: 0 } };
  const deps = moves.deps({ totals });
  const added = await moves.newOrder();
  assert.equal(await add(deps, moves.chain, added, { most: 20_000n, during: 'initialized' }), true);
  moves.node.collectReverts = '0x00';
  await collect(deps, moves.chain, await moves.newOrder(), { during: 'initialized' });
  await collect(deps, moves.chain, added, { during: 'initialized' });
  assert.deepEqual(
    moves.sent.map(({ purpose }) => purpose),
    ['add', 'collect'],
  );
});
