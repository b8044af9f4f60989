import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { RpcAnswerInvalid, RpcError } from '@florin/evm';
import { statement } from '@florin/pg';
import type { Hex } from '@florin/protocol/order.ts';
import { pad, toHex } from 'viem';
import { receiverOf } from '#orders/receiver.ts';
import type { StoredOrder } from '#orders/stored-order.ts';
import { unixSeconds } from '#outside/clock.ts';
import { DepositMoves } from '../../test/harness/deposit-moves.ts';
import { happen, takeBack } from '../../test/harness/payment-fixture.ts';
import { SearchedNode } from '../../test/harness/searched-node.ts';
import { checkBalances, initialPositions } from './deposit.ts';
import { fullRate, searchBlocks, searchUndone } from './deposit-search.ts';
import { depositsOf, findDepositTransfers, findSurplus } from './session-deposits.ts';

const setHaltedReason = statement({
  name: 'test_halted_reason_set',
  parameters: { chainId: 'int8', reason: 'text' },
  text: 'update chain_cursors set halted_reason = :reason where chain_id = :chainId',
});

const putBlock = statement({
  name: 'deposit_search_test_block',
  parameters: {
    chainId: 'int8',
    blockNumber: 'int8',
    blockHash: 'text',
    finalNumber: 'int8',
    blockTime: 'timestamptz',
  },
  text: `with stored as (
     insert into chain_blocks (chain_id, block_number, block_hash, parent_hash, block_time)
     values (:chainId, :blockNumber, :blockHash, '0x', :blockTime)
     on conflict (chain_id, block_number) do update set block_hash = :blockHash)
   insert into chain_cursors (chain_id, head_number, head_hash, head_time, final_number, final_hash, final_time, updated_at)
   values (:chainId, :blockNumber, :blockHash, :blockTime, :finalNumber, '0xfinal', :blockTime, :blockTime)
   on conflict (chain_id) do update set head_number = :blockNumber, head_hash = :blockHash, head_time = :blockTime, final_number = :finalNumber`,
});

// Others' orders of the same session, made later and payable for longer than the one that they are copied from.
const copyOrder = statement({
  name: 'deposit_search_test_copies',
  parameters: { orderId: 'text', count: 'int8' },
  text: `insert into orders select (r).* from (
     select jsonb_populate_record(o, jsonb_build_object('order_id', '0xc0ffee' || lpad(number::text, 58, '0'),
       'receiver', '0x' || lpad(number::text, 40, '0'), 'pay_by', o.pay_by + 60)) as r
     from orders o, generate_series(1, :count) as number where o.order_id = :orderId) as copied`,
});

const dropCopies = statement({
  name: 'deposit_search_test_drop',
  text: `with ended as (delete from deposit_sightings) delete from orders where order_id like '0xc0ffee%'`,
});

const forgetReceivers = statement({
  name: 'deposit_search_test_forget',
  text: 'update orders set receiver = null',
});

const sightings = statement({
  name: 'deposit_search_test_sightings',
  columns: { order_id: 'text', block_number: 'int8' },
  text: 'select order_id, block_number from deposit_sightings order by block_number, order_id',
});

const bringBack = statement({
  name: 'deposit_search_test_bring_back',
  parameters: { orderId: 'text', returnedAt: 'timestamptz' },
  text: 'update dropped_events set returned_at = :returnedAt where order_id = :orderId',
});

let moves: DepositMoves;
let node: SearchedNode;
before(async () => {
  moves = await DepositMoves.open();
  node = new SearchedNode(moves.usdc.address);
});
after(() => moves.close());
beforeEach(async () => {
  moves.begin();
  moves.node.collectReverts = '0x00';
  await moves.world.database.db.query(dropCopies);
  node.begin();
});

/** How many statements the service has executed. */
let statements = 0;

function deps() {
  const { db } = moves.world.database;
  const given = moves.deps();
  return {
    ...moves.world.deps,
    ...given,
    rpcOf: () => node.rpc,
    db: {
      ...db,
      transaction: db.transaction.bind(db),
      query: ((asked, ...values) => {
        statements += 1;
        return db.query(asked, ...values);
      }) as typeof db.query,
    },
    settings: { ...given.settings, windowMs: 50, balanceWindowMs: 50, mostNamed: 100 },
  };
}

async function mine(count = 1n): Promise<bigint> {
  node.head += count;
  node.known = node.head;
  await storeHead();
  return node.head;
}

async function storeHead(): Promise<void> {
  const { chainId } = moves.chain;
  await moves.world.database.db.query(putBlock, {
    chainId,
    blockNumber: node.head,
    blockHash: node.hashOf(node.head),
    finalNumber: node.final,
    blockTime: moves.world.clock.now(),
  });
}

const search = () => searchBlocks(deps(), moves.chain, fullRate());
const sighted = async () =>
  (await moves.world.database.db.query(sightings)).map((row) => [row.order_id, row.block_number]);

/** An order, whose address holds what it asks for once it is sent. */
async function newDeposit(): Promise<{
  order: StoredOrder;
  address: Hex;
  send: (block: bigint, part?: bigint) => void;
}> {
  const order = await moves.newOrder();
  const to = receiverOf(order.gateway as Hex, order.orderId);
  const send = (block: bigint, part = order.order.total) => {
    node.transfers.push({ to, block, amount: part });
    node.balances.set(to.toLowerCase(), part);
  };
  return { order, address: to, send };
}

/** What it takes to find one deposit beside so many others' orders. */
async function costBeside(others: number): Promise<unknown> {
  const { order, send } = await newDeposit();
  await moves.world.database.db.query(copyOrder, { orderId: order.orderId, count: others });
  await search();
  const block = await mine();
  for (let stranger = 1n; stranger <= 20n; stranger += 1n)
    node.transfers.push({ to: pad(toHex(0xabc0000n + stranger), { size: 20 }), block, amount: 1n });
  send(block);
  node.forget();
  statements = 0;
  moves.sent.length = 0;
  await search();
  assert.equal(moves.sent.length, 1);
  return { statements, questions: node.questions };
}

test('the cost of a block with a deposit does not grow with the number of open orders', async () => {
  await mine();
  const costs: unknown[] = [];
  for (const others of [5, 150, 3_000]) {
    await moves.world.database.db.query(dropCopies);
    costs.push(await costBeside(others));
  }
  const questions = ['eth_getBlockByNumber', 'eth_getLogs', 'eth_call'];
  assert.deepEqual(costs, Array(3).fill({ statements: 9, questions }));
});

test('with few open orders, one request asks a node about just their addresses', async () => {
  await mine();
  const { order, send } = await newDeposit();
  await search();
  send(await mine());
  node.forget();
  await search();
  assert.deepEqual(node.questions, ['eth_getBlockByNumber', 'eth_getLogs', 'eth_call']);
  assert.equal(moves.sent.length, 1);
  assert.deepEqual(await sighted(), [[order.orderId, node.head]]);
});

test('a deposit is found after a reorganisation has moved it to another block of a searched height', async () => {
  node.final = await mine();
  const { send } = await newDeposit();
  await mine(3n);
  await search();
  assert.equal(moves.sent.length, 0);
  node.fork = ' of the other fork';
  send(node.head - 1n);
  await storeHead();
  await search();
  assert.equal(moves.sent.length, 1);
});

test('each transfer to an address is kept for the history, without those of replaced blocks', async () => {
  node.final = await mine();
  const { order, send } = await newDeposit();
  const kept = async () =>
    (await findDepositTransfers(moves.world.database.db, deps(), order.sessionId)).map(
      ({ tokenId, amountInToken, blockNumber, isFinal }) => [tokenId, amountInToken, blockNumber, isFinal],
    );
  send(await mine(), 12_000_000n);
  await search();
  send(await mine(), 5_000_000n);
  await search();
  node.final = node.head - 1n;
  await storeHead();
  const { tokenId } = moves.usdc;
  const first = [tokenId, '12000000', Number(node.head) - 1, true];
  assert.deepEqual(await kept(), [first, [tokenId, '5000000', Number(node.head), false]]);
  node.transfers.pop();
  node.fork = ' without the second transfer';
  await storeHead();
  await search();
  assert.deepEqual(await kept(), [first]);
});

test('after final blocks were reverted, their transfers are gone and those of the blocks that replace them are found', async () => {
  const { db } = moves.world.database;
  const number = await mine();
  const { order, send } = await newDeposit();
  const amounts = async () =>
    (await findDepositTransfers(db, deps(), order.sessionId)).map(({ amountInToken }) => amountInToken);
  send(await mine(), 12_000_000n);
  node.final = await mine();
  await storeHead();
  await search();
  assert.deepEqual(await amounts(), ['12000000']);
  node.transfers.length = 0;
  const { chainId } = moves.chain;
  await db.transaction((transaction) =>
    searchUndone(transaction, chainId, { number, hash: node.hashOf(number) }),
  );
  assert.deepEqual(await amounts(), []);
  // The blocks that replace them are final before the next search.
  node.fork = ' of the chain that took them back';
  send(number + 1n, 3_000_000n);
  node.final = await mine();
  await storeHead();
  await search();
  assert.deepEqual(await amounts(), ['3000000']);
});

const exceptionKinds = statement({
  name: 'deposit_search_test_exceptions',
  parameters: { orderId: 'text' },
  columns: { kind: 'text' },
  text: 'select kind from exceptions where order_id = :orderId',
});

test('a deposit whose payment a reorg took back is collected again when it is back, once at a time, and is not too much', async () => {
  const { db } = moves.world.database;
  await mine();
  const { order, send } = await newDeposit();
  await search();
  await happen(moves.world, order, 'Paid');
  await takeBack(moves.world, order);
  send(await mine());
  node.final = node.head;
  await storeHead();
  const chain = { ...moves.chain, tokens: [moves.usdc] };
  const check = () => checkBalances(deps(), chain, initialPositions());
  const purposes = () => moves.sent.map(({ purpose }) => purpose);
  await search();
  assert.deepEqual(purposes(), [], 'not before its block is final');
  await check();
  await check();
  assert.deepEqual(purposes(), ['collect']);
  await moves.failAll();
  assert.deepEqual(await findSurplus(db, deps(), [order.sessionId]), []);
  assert.deepEqual(await db.query(exceptionKinds, { orderId: order.orderId }), []);
  await check();
  assert.deepEqual(purposes(), ['collect', 'collect']);
  // The chain has the payment again: what is still there is too much.
  await moves.failAll();
  await db.query(bringBack, { orderId: order.orderId, returnedAt: moves.world.clock.now() });
  assert.equal((await findSurplus(db, deps(), [order.sessionId])).length, 1);
  await check();
  assert.deepEqual(purposes(), ['collect', 'collect', 'rescue']);
  assert.deepEqual(await db.query(exceptionKinds, { orderId: order.orderId }), [{ kind: 'overpaid' }]);
});

test('the answer of a node that lacks the newest block is refused', async () => {
  await mine();
  const { send } = await newDeposit();
  await search();
  send(await mine());
  node.known -= 1n;
  await assert.rejects(search(), RpcAnswerInvalid);
  node.known += 1n;
  await search();
  assert.equal(moves.sent.length, 1);
});

test('after a pause the search continues where it ended, in ranges that the node accepts', async () => {
  await mine();
  const { order, send } = await newDeposit();
  await search();
  const begin = node.head;
  send(await mine());
  await mine(899n);
  node.mostBlocks = 60n;
  const pace = fullRate();
  node.forget();
  for (let failures = 0; failures < 2; failures += 1)
    await assert.rejects(searchBlocks(deps(), moves.chain, pace), RpcError);
  await searchBlocks(deps(), moves.chain, pace).catch((error) => assert.ok(error instanceof RpcError));
  assert.deepEqual(node.ranges.slice(0, 3), [
    [begin + 1n, begin + 200n],
    [begin + 1n, begin + 100n],
    [begin + 1n, begin + 50n],
  ]);
  assert.deepEqual(await sighted(), [[order.orderId, begin + 50n]]);
  assert.equal(moves.sent.length, 1);
});

test('open orders that are older than stored receivers get them', async () => {
  await mine();
  const { send } = await newDeposit();
  await moves.world.database.db.query(forgetReceivers);
  await search();
  send(await mine());
  await search();
  assert.equal(moves.sent.length, 1);
});

test('short and late deposits are checked before all other addresses, until theirs are empty', async () => {
  await mine();
  const { order, send } = await newDeposit();
  await moves.world.database.db.query(copyOrder, { orderId: order.orderId, count: 3_000 });
  const closed = await newDeposit();
  const address = (of: StoredOrder) => receiverOf(of.gateway as Hex, of.orderId).toLowerCase();
  await search();
  moves.world.clock.time = (Number(closed.order.order.payBy) + 30) * 1_000;
  assert.ok(unixSeconds(moves.world.clock.now()) > Number(closed.order.order.payBy));
  send(await mine(), 5_000_000n);
  closed.send(node.head);
  await search();
  assert.equal((await sighted()).length, 2);
  const check = () => checkBalances(deps(), moves.chain, initialPositions());
  for (const final of [node.head - 1n, node.head]) {
    node.final = final;
    await storeHead();
    node.forget();
    await check();
    for (const each of [order, closed.order])
      assert.ok(node.balancesAsked.includes(`${address(each)} ${toHex(final)}`));
    assert.equal((await sighted()).length, 2);
  }
  node.balances.clear();
  await check();
  assert.deepEqual(await sighted(), []);
});

test('open orders do not wait for closed ones in a round of balances', async () => {
  await mine();
  const { order } = await newDeposit();
  await moves.world.database.db.query(copyOrder, { orderId: order.orderId, count: 500 });
  moves.world.clock.time += 6 * 86_400_000;
  const open = await newDeposit();
  await storeHead();
  node.forget();
  await checkBalances(deps(), moves.chain, initialPositions());
  const address = receiverOf(open.order.gateway as Hex, open.order.orderId).toLowerCase();
  assert.ok(node.balancesAsked.some((asked) => asked.startsWith(address)));
});

test('every view of a session shows a short deposit: first as not final, then as final, and no longer after its time', async () => {
  node.final = await mine();
  const { order, send, address } = await newDeposit();
  const { sessionId, order: terms } = order;
  const { db } = moves.world.database;
  const view = (queryable: Pick<typeof db, 'query'> = db) =>
    depositsOf(queryable, moves.world.deps, { sessionId, status: 'initialized', signedOnce: true });
  const shown = async () =>
    (await view()).deposits.map((each) => [each.amountInToken, each.finalInToken, each.missingInToken]);
  const isFinal = async () => {
    node.final = node.head;
    await storeHead();
    await checkBalances(deps(), moves.chain, initialPositions());
  };
  const missing = (part: bigint) => String(terms.total - part);
  await search();
  // Dust.
  send(await mine(), 9_999n);
  await search();
  assert.deepEqual(await shown(), []);

  send(await mine(), 4_000_000n);
  await search();
  assert.deepEqual(await shown(), [['4000000', '0', missing(4_000_000n)]]);
  await isFinal();
  assert.deepEqual(await shown(), [['4000000', '4000000', missing(4_000_000n)]]);
  send(await mine(), 7_000_000n);
  await search();
  assert.deepEqual(await shown(), [['7000000', '4000000', missing(7_000_000n)]]);
  // The final chain lacks the second transfer.
  send(node.head, 4_000_000n);
  await isFinal();
  assert.deepEqual(await shown(), [['4000000', '4000000', missing(4_000_000n)]]);

  const { chainId, symbol, decimals, tokenId } = moves.usdc;
  const { deposits, isInDoubt } = await view(db.inScope(moves.merchantId));
  assert.equal(isInDoubt, false);
  assert.deepEqual(deposits[0], {
    ...{ tokenId, chainId: String(chainId), symbol, decimals, payUntil: Number(terms.payBy) },
    addressEnd: address.slice(-4),
    ...{ amountInToken: '4000000', finalInToken: '4000000', missingInToken: missing(4_000_000n) },
  });
  const none = { deposits: [], isInDoubt: false };
  assert.deepEqual(await view(db.inScope(await moves.world.addMerchant())), none);
  // While its chain is halted, nobody knows whether the money is there.
  await db.query(setHaltedReason, { chainId, reason: 'two nodes contradict each other' });
  assert.deepEqual(await view(), { deposits: [], isInDoubt: true });
  await db.query(setHaltedReason, { chainId, reason: '' });
  moves.world.clock.time = Number(terms.payBy + 1n) * 1_000;
  assert.deepEqual(await view(), none);
});
