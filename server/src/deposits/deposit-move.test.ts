import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { paymentGatewayAbi } from '@florin/protocol/contract.gen.ts';
import { microUsd } from '@florin/protocol/money.ts';
import type { Hex } from '@florin/protocol/order.ts';
import { encodeAbiParameters, encodeErrorResult, encodeFunctionData, erc20Abi } from 'viem';
import type { Chain } from '#chains/chain.ts';
import { type Rpc, RpcError } from '#chains/rpc/rpc.ts';
import type { SendPlan, SendRequest } from '#chains/sender/sender.ts';
import { statement } from '#db/statement.ts';
import { orderSignerOf } from '#sessions/order-signer.ts';
import { receiverOf } from '#sessions/receiver.ts';
import { lockSession } from '#sessions/session.ts';
import { moveSession } from '#sessions/session-move.ts';
import type { StoredOrder } from '#sessions/stored-session.ts';
import { silentLog } from '#telemetry/log.ts';
import { MerchantWorld } from '../../test/harness/merchant-fixture.ts';
import { addOrder, addSession } from '../../test/harness/payment-fixture.ts';
import { add, collect, type DepositMoveDeps, releaseUnfollowedMoves, sendBack } from './deposit-move.ts';

const insertSent = statement(
  'deposit_move_test_sent',
  ['text'],
  { transaction_id: 'int8' },
  `insert into sent_transactions (chain_id, wallet, nonce, purpose, recipient, call_data, gas_limit, status, created_at,
     updated_at)
   select 1, '0xmoves', count(*), $1, '0xto', '0x', 1, 'pending', now(), now() from sent_transactions
   returning transaction_id`,
);

let world: MerchantWorld;
let shop: { key: string; accountId: string };
before(async () => {
  world = await MerchantWorld.open();
  const merchantId = await world.addMerchant();
  shop = { key: await world.addKey(merchantId), accountId: await world.addAccount(merchantId) };
});
after(() => world.close());

/** What the chain says: all addresses hold ten dollars, of a total of 10.02. */
let node: {
  collectReverts: Hex;
  isRecipientBlocked: boolean;
  calls: unknown[];
  beforeBalances: () => Promise<void>;
};
let sent: SendRequest[];
beforeEach(() => {
  const args = [usdc().address] as const;
  const short = encodeErrorResult({ abi: paymentGatewayAbi, errorName: 'TransferFailed', args });
  node = { collectReverts: short, isRecipientBlocked: false, calls: [], beforeBalances: async () => {} };
  sent = [];
  world.clock.time += 2 * 86_400_000;
});

function usdc() {
  const token = world.deps.chains.token('ethereum::usdc');
  if (token === undefined) throw new Error('the fixture has no ethereum::usdc');
  return token;
}

function chain(): Chain {
  const found = world.deps.chains.byId(usdc().chainId);
  if (found === undefined) throw new Error('the fixture has no chain');
  return found;
}

const rpc: Rpc = {
  async request(_method, params) {
    node.calls.push(params[0]);
    if (node.isRecipientBlocked) throw new RpcError(3, 'execution reverted');
    return encodeAbiParameters([{ type: 'bool' }], [true]);
  },
  async batch(calls) {
    await node.beforeBalances();
    return calls.map(() => ({ result: encodeAbiParameters([{ type: 'uint256' }], [10_000_000n]) }));
  },
};

function deps(addedPerDay = 100_000_000n): DepositMoveDeps {
  return {
    db: world.database.db,
    clock: world.clock,
    log: silentLog,
    rpcOf: () => rpc,
    sender: {
      plan: async (chainId, request) =>
        request.purpose === 'collect' && node.collectReverts !== '0x00'
          ? { reverted: true, data: node.collectReverts }
          : ({ ...request, chainId, gasLimit: 100n } as SendPlan),
      async record(transaction, plan) {
        const [row] = await transaction.query(insertSent, [plan.purpose]);
        sent.push(plan);
        return { transactionId: row?.transaction_id ?? 0n, txHash: '0x' };
      },
      broadcast: async () => {},
    },
    signer: orderSignerOf(`0x${'0f'.repeat(32)}`),
    settings: { minAmount: microUsd(0n), deposits: { addedPerDay: microUsd(addedPerDay) } },
  };
}

async function newOrder(sessionId?: string, payer?: Hex): Promise<StoredOrder> {
  return addOrder(world, sessionId ?? (await addSession(world, shop)), payer);
}

const addTo = (order: StoredOrder, addedPerDay?: bigint) =>
  add(deps(addedPerDay), chain(), order, { most: 20_000n, during: 'initialized' });

/** Whatever is on its way fails. */
async function failAll(): Promise<void> {
  const at = new Date(world.clock.time + 1);
  await releaseUnfollowedMoves(world.database.db, { wallets: ['0xother'], before: at, at });
}

async function expire(order: StoredOrder): Promise<void> {
  await world.database.db.transaction(async (transaction) => {
    const session = await lockSession(transaction, order.sessionId);
    if (session !== undefined) await moveSession(transaction, world.deps, session, 'expire');
  });
}

test('what is lacking is sent to the order’s address, once', async () => {
  const order = await newOrder();
  assert.equal(await addTo(order), true);
  assert.equal(await addTo(order), true);
  const to = receiverOf(order.gateway as Hex, order.orderId);
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, 20_000n] });
  assert.deepEqual(
    sent.map((each) => [each.purpose, each.to, each.data]),
    [['add', usdc().address, data]],
  );
});

test('of several orders of a session one is added to', async () => {
  const first = await newOrder();
  const second = await newOrder(first.sessionId, `0x${'e5'.repeat(20)}`);
  assert.notEqual(first.orderId, second.orderId);
  // Both have looked for the other one before either is recorded.
  const met = Promise.withResolvers<void>();
  let asked = 0;
  node.beforeBalances = () => {
    asked += 1;
    if (asked === 2) met.resolve();
    return met.promise;
  };
  const answers = await Promise.all([addTo(first), addTo(second)]);
  assert.deepEqual(answers.sort(), [false, true]);
  assert.equal(sent.length, 1);
  node.beforeBalances = async () => {};
  assert.deepEqual([await addTo(first), await addTo(second)].sort(), [false, true]);
  assert.equal(sent.length, 1);
});

test('of several orders of a session on a chain one is collected at a time: all others would revert', async () => {
  node.collectReverts = '0x00';
  const first = await newOrder();
  const second = await newOrder(first.sessionId, `0x${'e5'.repeat(20)}`);
  const collectBoth = () =>
    Promise.all([first, second].map((order) => collect(deps(), chain(), order, 'initialized')));
  await collectBoth();
  await collectBoth();
  assert.equal(sent.length, 1);
  await failAll();
  await collectBoth();
  assert.equal(sent.length, 2);
});

test('in 24 hours no more is added than the settings say, whoever asks at the same time', async () => {
  const orders = [await newOrder(), await newOrder(), await newOrder()];
  const answers = await Promise.all(orders.map((order) => addTo(order, 59_999n)));
  assert.equal(answers.filter((isAdded) => isAdded).length, 2);
  const waiting = orders.filter((_, index) => answers[index] === false);
  world.clock.time += 86_400_001;
  assert.deepEqual(await Promise.all(waiting.map((order) => addTo(order, 59_999n))), [true]);
});

test('nothing is added where the merchant’s address takes no tokens: the payer would get it in the end', async () => {
  const order = await newOrder();
  node.isRecipientBlocked = true;
  assert.equal(await addTo(order), false);
  assert.equal(sent.length, 0);
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [order.order.to, 1n] });
  const from = receiverOf(order.gateway as Hex, order.orderId);
  assert.deepEqual(node.calls, [{ from, to: usdc().address, data }]);
});

for (const errorName of ['ContractPaused', 'MetaDataUsed'] as const) {
  test(`nothing is added to an order that cannot be collected then: ${errorName}`, async () => {
    const order = await newOrder();
    node.collectReverts = encodeErrorResult(
      errorName === 'MetaDataUsed'
        ? { abi: paymentGatewayAbi, errorName, args: [order.order.metaData] }
        : { abi: paymentGatewayAbi, errorName },
    );
    assert.equal(await addTo(order), false);
    assert.equal(sent.length, 0);
  });
}

test('nothing is collected or added for a session that has expired since that was decided', async () => {
  const order = await newOrder();
  await expire(order);
  node.collectReverts = '0x00';
  await collect(deps(), chain(), order, 'initialized');
  assert.equal(sent.length, 0);
  await collect(deps(), chain(), order, 'expired');
  assert.equal(sent.length, 1);
});

test('a collection by a wallet that is followed no more is made anew, and an addition never', async () => {
  const added = await newOrder();
  assert.equal(await addTo(added), true);
  node.collectReverts = '0x00';
  const order = await newOrder();
  const again = () => collect(deps(), chain(), order, 'initialized');
  await again();
  const at = world.clock.now();
  const release = (wallets: Hex[], before: Date) =>
    releaseUnfollowedMoves(world.database.db, { wallets, before, at });
  const later = new Date(at.getTime() + 1);
  assert.equal(await release(['0xMoves'], later), 0);
  // Those of the tests before, whose time has come.
  await release(['0xother'], at);
  await again();
  assert.equal(sent.length, 2);
  assert.equal(await release(['0xother'], later), 1);
  await again();
  assert.deepEqual(
    sent.map(({ purpose }) => purpose),
    ['add', 'collect', 'collect'],
  );
  node.collectReverts = encodeErrorResult({
    ...{ abi: paymentGatewayAbi, errorName: 'TransferFailed', args: [usdc().address] },
  });
  assert.equal(await addTo(added), true);
  assert.equal(sent.length, 3);
});

test('collections and returns of a link keep to a day’s gas each, whoever asks at the same time', async () => {
  node.collectReverts = '0x00';
  const bounded: DepositMoveDeps = {
    ...deps(),
    settings: { ...deps().settings, depositBudgets: { collections: 350, returns: 250 } },
  };
  const orders: StoredOrder[] = [];
  for (let count = 0; count < 8; count += 1) orders.push(await newOrder());
  const collectAll = () =>
    Promise.all(orders.map((order) => collect(bounded, chain(), order, 'initialized')));
  const sendAllBack = () =>
    Promise.all(orders.map((order) => sendBack(bounded, chain(), order, usdc().address)));
  const countOf = (purpose: string) => sent.filter((each) => each.purpose === purpose).length;
  await collectAll();
  await sendAllBack();
  assert.deepEqual([countOf('collect'), countOf('rescue')], [3, 2]);
  world.clock.time += 86_400_001;
  await sendAllBack();
  assert.deepEqual([countOf('collect'), countOf('rescue')], [3, 4]);
});

test('an addition takes the gas of its collection into account, which is then made whatever else is', async () => {
  const boundedBy = (collections: number): DepositMoveDeps => ({
    ...deps(),
    settings: { ...deps().settings, depositBudgets: { collections, returns: 0 } },
  });
  const addBy = (collections: number, order: StoredOrder) =>
    add(boundedBy(collections), chain(), order, { most: 20_000n, during: 'initialized' });
  const order = await newOrder();
  assert.equal(await addBy(200_099, order), false);
  assert.equal(await addBy(200_100, order), true);
  node.collectReverts = '0x00';
  const collectBy = (each: StoredOrder) => collect(boundedBy(200_100), chain(), each, 'initialized');
  await collectBy(await newOrder());
  await collectBy(order);
  assert.deepEqual(
    sent.map(({ purpose }) => purpose),
    ['add', 'collect'],
  );
});

test('a return that is made again and again counts each time', async () => {
  const settings = { ...deps().settings, depositBudgets: { collections: 0, returns: 250 } };
  const order = await newOrder();
  const again = () => sendBack({ ...deps(), settings }, chain(), order, usdc().address);
  for (let count = 0; count < 4; count += 1) {
    await again();
    const at = new Date(world.clock.time + 1);
    await releaseUnfollowedMoves(world.database.db, { wallets: ['0xother'], before: at, at });
    world.clock.time += 3_600_000;
  }
  assert.equal(sent.length, 2);
});
