import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { type Rpc, RpcError, type RpcOutcome } from '@florin/evm';
import { statement } from '@florin/pg';
import { paymentGatewayAbi } from '@florin/protocol/contract.gen.ts';
import { microUsd } from '@florin/protocol/money.ts';
import type { Hex } from '@florin/protocol/order.ts';
import { encodeAbiParameters, encodeErrorResult, encodeFunctionData, erc20Abi } from 'viem';
import { ledgerBalances } from '#ledger/entry.ts';
import { findOrder } from '#orders/order.ts';
import { receiverOf } from '#orders/receiver.ts';
import type { StoredOrder } from '#orders/stored-order.ts';
import { expireSessions, findSession } from '#sessions/session.ts';
import { DepositMoves, depositPolicy } from '../../test/harness/deposit-moves.ts';
import {
  add,
  collect,
  depositOutcome,
  movesUndone,
  releaseUnfollowedMoves,
  sendBack,
} from './deposit-move.ts';
import { collectedOf } from './session-deposits.ts';

const lastSent = statement({
  name: 'deposit_move_test_sent',
  columns: { transaction_id: 'int8' },
  text: `select transaction_id from (
     select transaction_id from sent_transactions order by transaction_id desc limit 2) as last order by transaction_id`,
});

const putCursor = statement({
  name: 'deposit_move_test_cursor',
  parameters: { chainId: 'int8', headTime: 'timestamptz' },
  text: `insert into chain_cursors (chain_id, head_number, head_hash, head_time, final_number, final_hash, final_time, updated_at)
   values (:chainId, 9, '0x', :headTime, 3, '0x', :headTime, :headTime)
   on conflict (chain_id) do update set head_time = :headTime, final_time = :headTime`,
});

const setAmount = statement({
  name: 'deposit_move_test_amount',
  parameters: { orderId: 'text', amount: 'numeric' },
  text: 'update deposit_moves set amount = :amount where order_id = :orderId',
});

const setTrigger = (to: 'enable' | 'disable') =>
  statement({
    name: `deposit_move_test_trigger_${to}`,
    text: `alter table deposit_moves ${to} trigger deposit_moves_added`,
  });

const toleranceEntries = statement({
  name: 'deposit_move_test_tolerance',
  parameters: { orderId: 'text' },
  columns: { amount: 'numeric' },
  text: `select p.amount from ledger_entries e join ledger_postings p on p.entry_id = e.entry_id
   where e.order_id = :orderId and e.kind = 'tolerance' and p.ledger_account = 'tolerance'`,
});

let moves: DepositMoves;
before(async () => {
  moves = await DepositMoves.open();
});
after(() => moves.close());
beforeEach(() => moves.begin());

const addTo = (order: StoredOrder, addedPerDay = 100_000_000n) =>
  add(
    moves.deps({ deposits: { ...depositPolicy, addedPerDay: microUsd(addedPerDay) } }),
    moves.chain,
    order,
    {
      most: 20_000n,
      during: 'initialized',
    },
  );

test('the missing amount is sent to the order’s address, once', async () => {
  const order = await moves.newOrder();
  assert.equal(await addTo(order), true);
  assert.equal(await addTo(order), true);
  const to = receiverOf(order.gateway as Hex, order.orderId);
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, 20_000n] });
  assert.deepEqual(
    moves.sent.map((each) => [each.purpose, each.to, each.data]),
    [['add', moves.usdc.address, data]],
  );
});

const changeOrder = statement({
  name: 'deposit_move_test_change',
  parameters: { orderId: 'text', gateway: 'text', via: 'text', recipient: 'text', value: 'int8' },
  text: `update orders set gateway = :gateway, via = :via, recipient = :recipient, total_value = :value, signature = '0x'
   where order_id = :orderId`,
});

for (const [mismatch, changes] of Object.entries({
  gateway: { gateway: `0x${'ee'.repeat(20)}` },
  via: { via: `0x${'ee'.repeat(20)}` },
  id: { recipient: `0x${'ee'.repeat(20)}` },
  amount: { value: 1n },
})) {
  test(`an order whose ${mismatch} was changed in the database is neither collected nor added to, and alarms once`, async () => {
    const { db } = moves.world.database;
    const given = await moves.newOrder();
    const { order, orderId, gateway, amounts } = given;
    const row = { orderId, gateway, via: order.via, recipient: order.to, value: amounts.totalValue };
    await db.query(changeOrder, { ...row, ...changes });
    const changed = await findOrder(db, orderId);
    assert.ok(changed !== undefined);
    for (const reverts of [moves.node.collectReverts, '0x00'] as const) {
      moves.node.collectReverts = reverts;
      assert.equal(await addTo(changed), false);
      await collect(moves.deps(), moves.chain, changed, { during: 'initialized' });
    }
    // What comes back goes through the gateway alone.
    await sendBack(moves.deps(), moves.chain, changed, order.token);
    const returns = mismatch === 'gateway' ? [] : ['rescue'];
    assert.deepEqual(
      moves.sent.map(({ purpose }) => purpose),
      returns,
    );
    assert.equal(moves.logged.filter((event) => event === 'deposits.order_in_doubt').length, 1);
  });
}

test('nothing is added beyond the configuration’s own bound, whatever the order’s terms allow, and the log says so once', async () => {
  const order = await moves.newOrder();
  const addUpTo = (addedAboveFee: bigint) =>
    add(
      moves.deps({ deposits: { ...depositPolicy, addedAboveFee: microUsd(addedAboveFee) } }),
      moves.chain,
      order,
      { most: 10n ** 30n, during: 'initialized' },
    );
  // The order's fee is 20,000.
  moves.node.balance = 9_980_000n;
  assert.equal(await addUpTo(19_999n), false);
  assert.equal(await addUpTo(19_999n), false);
  assert.deepEqual(moves.logged, ['deposits.above_configured_bound']);
  assert.equal(await addUpTo(20_000n), true);
});

test('nothing is added while providers differ about what has arrived, or while too few of them answer', async () => {
  const order = await moves.newOrder();
  const chain = { ...moves.chain, finality: { ...moves.chain.finality, quorum: 2 } };
  const holds = (amount: bigint): RpcOutcome => ({
    result: encodeAbiParameters([{ type: 'uint256' }], [amount]),
  });
  const limits = new Set<number | undefined>();
  const addWith = (...said: RpcOutcome[]) => {
    const deps = moves.deps();
    const answers = said.map((outcome, index) => ({ node: String(index), outcomes: [outcome] }));
    const askEach: Rpc['askEach'] = async (_calls, options) => {
      limits.add(options?.timeLimitMs);
      return answers;
    };
    const rpc = { ...deps.rpcOf(), askEach };
    return add({ ...deps, rpcOf: () => rpc }, chain, order, { most: 20_000n, during: 'initialized' });
  };
  assert.equal(await addWith(holds(10_000_000n)), false);
  assert.equal(await addWith(holds(10_000_000n), { error: new RpcError(-32000, 'busy') }), false);
  assert.equal(await addWith(holds(10_000_000n), holds(10_010_000n), holds(10_000_000n)), false);
  assert.deepEqual(moves.logged, ['deposits.balance_not_agreed'], 'once for each deposit');
  assert.deepEqual([...limits], [4_000], 'a silent node holds up the other deposits for so long');
  assert.equal(await addWith(holds(10_010_000n), holds(10_010_000n)), true);
});

test('a planted addition below nothing leaves the day’s limit as it is', async () => {
  const { db } = moves.world.database;
  const added = await moves.newOrder();
  await addTo(added);
  // The trigger would store it with the order, whose constraint refuses it.
  await db.query(setTrigger('disable'));
  await db.query(setAmount, { orderId: added.orderId, amount: -1_000_000_000_000n });
  await db.query(setTrigger('enable'));
  assert.equal(await addTo(await moves.newOrder(), 19_999n), false);
});

test('only one order of a session gets an addition', async () => {
  const first = await moves.newOrder();
  const second = await moves.newOrder(first.sessionId, `0x${'e5'.repeat(20)}`);
  assert.notEqual(first.orderId, second.orderId);
  // Both have looked for the other one before either is recorded.
  const met = Promise.withResolvers<void>();
  let asked = 0;
  moves.node.beforeBalances = () => {
    asked += 1;
    if (asked === 2) met.resolve();
    return met.promise;
  };
  const answers = await Promise.all([addTo(first), addTo(second)]);
  assert.deepEqual(answers.sort(), [false, true]);
  assert.equal(moves.sent.length, 1);
  moves.node.beforeBalances = async () => {};
  assert.deepEqual([await addTo(first), await addTo(second)].sort(), [false, true]);
  assert.equal(moves.sent.length, 1);
});

test('orders of a session on one chain are collected one at a time, because the others would revert', async () => {
  moves.node.collectReverts = '0x00';
  const first = await moves.newOrder();
  const second = await moves.newOrder(first.sessionId, `0x${'e5'.repeat(20)}`);
  const collectBoth = () =>
    Promise.all(
      [first, second].map((order) => collect(moves.deps(), moves.chain, order, { during: 'initialized' })),
    );
  await collectBoth();
  await collectBoth();
  assert.equal(moves.sent.length, 1);
  await moves.failAll();
  await collectBoth();
  assert.equal(moves.sent.length, 2);
});

test('additions of 24 hours stay within the limit, even when requested at once', async () => {
  const orders = [await moves.newOrder(), await moves.newOrder(), await moves.newOrder()];
  const answers = await Promise.all(orders.map((order) => addTo(order, 59_999n)));
  assert.equal(answers.filter((isAdded) => isAdded).length, 2);
  const waiting = orders.filter((_, index) => answers[index] === false);
  moves.world.clock.time += 86_400_001;
  assert.deepEqual(await Promise.all(waiting.map((order) => addTo(order, 59_999n))), [true]);
});

test('nothing is added when the merchant’s address takes no tokens, because the payer would get it in the end', async () => {
  const order = await moves.newOrder();
  moves.node.isRecipientBlocked = true;
  assert.equal(await addTo(order), false);
  assert.equal(moves.sent.length, 0);
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [order.order.to, 1n] });
  const from = receiverOf(order.gateway as Hex, order.orderId);
  assert.deepEqual(moves.node.calls, [{ from, to: moves.usdc.address, data }]);
});

for (const errorName of ['ContractPaused', 'MetaDataUsed'] as const) {
  test(`nothing is added to an order that cannot be collected then: ${errorName}`, async () => {
    const order = await moves.newOrder();
    moves.node.collectReverts = encodeErrorResult(
      errorName === 'MetaDataUsed'
        ? { abi: paymentGatewayAbi, errorName, args: [order.order.metaData] }
        : { abi: paymentGatewayAbi, errorName },
    );
    assert.equal(await addTo(order), false);
    assert.equal(moves.sent.length, 0);
  });
}

test('nothing is collected or added for a session that has expired since the decision', async () => {
  const order = await moves.newOrder();
  await moves.expire(order);
  moves.node.collectReverts = '0x00';
  await collect(moves.deps(), moves.chain, order, { during: 'initialized' });
  assert.equal(moves.sent.length, 0);
  await collect(moves.deps(), moves.chain, order, { during: 'expired' });
  assert.equal(moves.sent.length, 1);
  // The merchant reads which of its orders a deposit pays.
  const own = moves.world.database.db.inScope(moves.merchantId);
  const foreign = moves.world.database.db.inScope(await moves.world.addMerchant());
  const other = await moves.newOrder();
  const orderIds = [order.orderId, other.orderId];
  assert.deepEqual([...(await collectedOf(own, orderIds))], [order.orderId]);
  assert.equal((await collectedOf(foreign, orderIds)).size, 0);
});

test('a collection by a replaced wallet is repeated, and an addition never', async () => {
  const added = await moves.newOrder();
  assert.equal(await addTo(added), true);
  moves.node.collectReverts = '0x00';
  const order = await moves.newOrder();
  const again = () => collect(moves.deps(), moves.chain, order, { during: 'initialized' });
  await again();
  const at = moves.world.clock.now();
  const release = (wallets: Hex[], before: Date) =>
    releaseUnfollowedMoves(moves.world.database.db, { wallets, before, at });
  const later = new Date(at.getTime() + 1);
  assert.equal(await release(['0xMoves'], later), 0);
  // Those of the tests before, whose time has come.
  await release(['0xother'], at);
  await again();
  assert.equal(moves.sent.length, 2);
  assert.equal(await release(['0xother'], later), 1);
  await again();
  assert.deepEqual(
    moves.sent.map(({ purpose }) => purpose),
    ['add', 'collect', 'collect'],
  );
  moves.node.collectReverts = encodeErrorResult({
    ...{ abi: paymentGatewayAbi, errorName: 'TransferFailed', args: [moves.usdc.address] },
  });
  assert.equal(await addTo(added), true);
  assert.equal(moves.sent.length, 3);
});

test('an addition by a replaced wallet keeps its session open until its order’s deadline', async () => {
  const { db } = moves.world.database;
  const order = await moves.newOrder();
  assert.equal(await addTo(order), true);
  const at = moves.world.clock.now();
  const wallets: Hex[] = ['0xother'];
  await releaseUnfollowedMoves(db, { wallets, before: new Date(at.getTime() + 1), at });
  const expireAt = async (payByPlus: bigint) => {
    await db.query(putCursor, {
      chainId: order.chainId,
      headTime: new Date(Number(order.order.payBy + payByPlus) * 1_000),
    });
    await db.transaction((transaction) => expireSessions(transaction, moves.world.deps, 100));
    return (await findSession(db, order.sessionId))?.status;
  };
  assert.equal(await expireAt(0n), 'initialized');
  assert.equal(await expireAt(1n), 'expired');
  assert.equal(await addTo(order), true);
  assert.equal(moves.sent.length, 1, 'never made again');
  // Followed again, it turns out to have been mined.
  const [, addition] = await db.query(lastSent);
  assert.ok(addition !== undefined);
  const { transaction_id: transactionId } = addition;
  for (let time = 0; time < 2; time += 1)
    await db.transaction((transaction) =>
      depositOutcome(transaction, moves.world, {
        ...{ transactionId, chainId: order.chainId, purpose: 'add', status: 'succeeded' },
        ...{ txHash: '0x', blockTime: undefined },
      }),
    );
  const entries = await db.query(toleranceEntries, { orderId: order.orderId });
  assert.deepEqual(entries, [{ amount: 20_000n }]);
});

test('a collection whose block is reverted is on its way again, and an addition stays as it is', async () => {
  const added = await moves.newOrder();
  assert.equal(await addTo(added), true);
  const order = await moves.newOrder();
  moves.node.collectReverts = '0x00';
  const again = () => collect(moves.deps(), moves.chain, order, { during: 'initialized' });
  await again();
  const { db } = moves.world.database;
  const sent = await db.query(lastSent);
  const [addition, collection] = sent.map(({ transaction_id: id }) => id);
  assert.ok(addition !== undefined && collection !== undefined);
  const end = (transactionId: bigint, purpose: 'add' | 'collect', status: 'succeeded' | 'superseded') =>
    db.transaction((transaction) =>
      depositOutcome(transaction, moves.world, {
        ...{ transactionId, chainId: order.chainId, purpose, status, txHash: '0x', blockTime: undefined },
      }),
    );
  await end(addition, 'add', 'succeeded');
  await end(collection, 'collect', 'succeeded');
  const books = await ledgerBalances(db);
  await db.transaction((transaction) =>
    movesUndone(transaction, [addition, collection], moves.world.clock.now()),
  );
  await again();
  assert.equal(moves.sent.length, 2, 'it is on its way');
  await end(addition, 'add', 'succeeded');
  await end(collection, 'collect', 'superseded');
  assert.deepEqual(await ledgerBalances(db), books, 'booked once');
  await again();
  assert.equal(moves.sent.length, 3);
});
