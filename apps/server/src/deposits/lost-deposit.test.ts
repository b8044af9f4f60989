import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { statement } from '@florin/pg';
import type { ExceptionKind } from '@florin/protocol/exception.ts';
import { raiseDeposit } from '#exceptions/deposit-exception.ts';
import { findExceptions, markResolved } from '#exceptions/exception.ts';
import { findExceptionsInDoubt } from '#exceptions/lost-exception.ts';
import { receiverOf } from '#orders/receiver.ts';
import type { StoredOrder } from '#orders/stored-order.ts';
import { chainReactions } from '#service/reactions.ts';
import { lockSession } from '#sessions/session.ts';
import { silentLog } from '#telemetry/log.ts';
import { DepositMoves } from '../../test/harness/deposit-moves.ts';
import { happen, takeBack } from '../../test/harness/payment-fixture.ts';
import { SearchedNode } from '../../test/harness/searched-node.ts';

import { checkDoubted } from './lost-deposit.ts';

const putCursor = statement({
  name: 'lost_deposit_test_cursor',
  parameters: { chainId: 'int8', finalNumber: 'int8', haltedReason: 'text', at: 'timestamptz' },
  text: `insert into chain_cursors (chain_id, head_number, head_hash, head_time, final_number, final_hash, final_time, halted_reason,
     updated_at)
   values (:chainId, :finalNumber, '0x', :at, :finalNumber, '0x', :at, :haltedReason, :at)
   on conflict (chain_id) do update set final_number = :finalNumber, halted_reason = :haltedReason`,
});

const putTransfer = statement({
  name: 'lost_deposit_test_transfer',
  parameters: { orderId: 'text', chainId: 'int8', blockNumber: 'int8', at: 'timestamptz' },
  text: `with sighted as (
     insert into deposit_sightings (order_id, chain_id, pay_by, block_number) select order_id, chain_id, pay_by, :blockNumber
     from orders where order_id = :orderId
     on conflict (order_id) do update set block_number = :blockNumber),
   kept as (
     insert into chain_blocks (chain_id, block_number, block_hash, parent_hash, block_time)
     values (:chainId, :blockNumber, '0x', '0x', :at) on conflict do nothing)
   insert into deposit_transfers (order_id, chain_id, token, amount, tx_hash, log_index, block_number, seen_at)
   values (:orderId, :chainId, '0x', 1, '0x', :blockNumber, :blockNumber, :at)`,
});

const eventsTold = statement({
  name: 'lost_deposit_test_events',
  parameters: { sessionId: 'text' },
  columns: { told: 'int8' },
  text: `select count(*) as told from events where object_id = :sessionId and event_type = 'session.exception'`,
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
  node.begin();
  const cursor = { chainId: moves.chain.chainId, finalNumber: 1n, haltedReason: '' };
  await db().query(putCursor, { ...cursor, at: moves.world.clock.now() });
});

const deps = () => ({ ...moves.world.deps, ...moves.deps(), rpcOf: () => node.rpc, log: silentLog });
const db = () => moves.world.database.db;

/** The chain's final block has a number, and the address of the order an amount there, which may differ at the newest block. */
async function stand(
  order: StoredOrder,
  {
    final,
    held,
    newest = held,
    halted = '',
  }: { final: bigint; held: bigint; newest?: bigint; halted?: string },
): Promise<void> {
  const holder = receiverOf(moves.chain.gateway, order.orderId).toLowerCase();
  node.olderBalances.set(holder, held);
  node.balances.set(holder, newest);
  const { chainId } = moves.chain;
  const at = moves.world.clock.now();
  await db().query(putCursor, { chainId, finalNumber: final, haltedReason: halted, at });
}

async function receive(order: StoredOrder, blockNumber: bigint): Promise<void> {
  const { chainId } = moves.chain;
  await db().query(putTransfer, {
    orderId: order.orderId,
    chainId,
    blockNumber,
    at: moves.world.clock.now(),
  });
}

/** The final block shows an amount at the address that pays nothing. */
async function raise(order: StoredOrder, amount: bigint, finalBlock: bigint, kind: ExceptionKind = 'late') {
  await db().transaction(async (transaction) => {
    const session = await lockSession(transaction, order.sessionId);
    assert.ok(session !== undefined);
    const token = moves.usdc;
    await raiseDeposit(transaction, deps(), { session, order, kind, token, amount, finalBlock });
  });
}

/** An operator has resumed the chain: its blocks above a number were reverted. */
async function rewind(number: bigint): Promise<void> {
  const hash = `0x${'00'.repeat(32)}` as const;
  const anchor = { number, hash, parentHash: hash, time: moves.world.clock.now() };
  await db().transaction(async (transaction) =>
    chainReactions(deps()).onRewind?.(transaction, moves.chain, anchor),
  );
}

/** The order's exception, whether its money is in doubt, and how many events told of it. */
async function told(order: StoredOrder): Promise<string> {
  const [exception, ...others] = await findExceptions(db(), [order.sessionId]);
  assert.ok(exception !== undefined && others.length === 0);
  const doubted = await findExceptionsInDoubt(db(), [order.orderId]);
  const [count] = await db().query(eventsTold, { sessionId: order.sessionId });
  const { status, isGone, amountInToken, exceptionId } = exception;
  const state = isGone ? 'gone' : doubted.has(exceptionId) ? 'in doubt' : 'sure';
  return `${status} ${state} ${amountInToken}, told ${count?.told}`;
}

const check = () => checkDoubted(deps(), moves.chain);

/** An order whose address got ten dollars late in block 12, of which the merchant knows. */
async function lateDeposit(): Promise<StoredOrder> {
  const order = await moves.newOrder();
  await receive(order, 12n);
  await stand(order, { final: 15n, held: 10_000_000n });
  await raise(order, 10_000_000n, 15n);
  assert.equal(await told(order), 'open sure 10000000, told 1');
  return order;
}

const inDoubt = 'open in doubt 10000000, told 1';

/** What the chain shows after a reorg down to block 11, and what becomes of the exception. */
const outcomes: Readonly<Record<string, readonly [Omit<Parameters<typeof stand>[1], never>, string]>> = {
  'an address that is empty has lost the money': [{ final: 12n, held: 0n }, 'resolved gone 10000000, told 1'],
  'an address that holds it again keeps its exception': [
    { final: 12n, held: 10_000_000n },
    'open sure 10000000, told 1',
  ],
  'an address that holds less keeps its exception with that': [
    { final: 12n, held: 1n },
    'open sure 1, told 1',
  ],
  'money in a block that is not final yet is waited for': [
    { final: 12n, held: 0n, newest: 10_000_000n },
    inDoubt,
  ],
  'before the lost block’s height is final, nothing is decided': [{ final: 11n, held: 0n }, inDoubt],
  'nothing is decided on a halted chain': [{ final: 12n, held: 0n, halted: 'final_reorg' }, inDoubt],
};

for (const [name, [shown, outcome]] of Object.entries(outcomes))
  test(`after a reorg below finality, ${name}`, async () => {
    const order = await lateDeposit();
    await rewind(11n);
    assert.equal(await told(order), inDoubt);
    await stand(order, shown);
    await check();
    assert.equal(await told(order), outcome);
  });

test('a reorg that took back no transfer to an address casts no doubt on its exception', async () => {
  const order = await lateDeposit();
  await rewind(12n);
  await stand(order, { final: 12n, held: 0n });
  await check();
  assert.equal(await told(order), 'open sure 10000000, told 1');
});

test('money that was gone opens its exception again when it is back, with another event, and can go once more', async () => {
  const order = await lateDeposit();
  await rewind(11n);
  await stand(order, { final: 12n, held: 0n });
  await check();
  await receive(order, 20n);
  await raise(order, 12_000_000n, 22n);
  assert.equal(await told(order), 'open sure 12000000, told 2');
  await raise(order, 12_000_000n, 23n);
  assert.equal(await told(order), 'open sure 12000000, told 2');
  await rewind(19n);
  await stand(order, { final: 24n, held: 0n });
  await check();
  assert.equal(await told(order), 'resolved gone 12000000, told 2');
});

test('a merchant’s mark does not hide that the money is gone, nor that it is back', async () => {
  const order = await lateDeposit();
  const [exception] = await findExceptions(db(), [order.sessionId]);
  const request = { merchantId: moves.merchantId, exceptionId: exception?.exceptionId ?? '' };
  await db().transaction((transaction) => markResolved(transaction, deps(), request));
  await rewind(11n);
  await stand(order, { final: 12n, held: 0n });
  await check();
  assert.equal(await told(order), 'resolved gone 10000000, told 1');
  await raise(order, 10_000_000n, 22n);
  assert.equal(await told(order), 'open sure 10000000, told 2');
});

test('on a halted chain, money that came in one of the kept blocks is in doubt', async () => {
  const order = await lateDeposit();
  await stand(order, { final: 15n, held: 10_000_000n, halted: 'final_reorg' });
  assert.equal(await told(order), inDoubt);
  await stand(order, { final: 15n, held: 10_000_000n });
  assert.equal(await told(order), 'open sure 10000000, told 1');
});

for (const [held, outcome] of [
  [0n, 'resolved gone 10000000, told 1'],
  [4_000_000n, 'open sure 4000000, told 1'],
] as const)
  test(`what was too much and has paid the order since is too much no more, as far as the address does not hold it: ${held}`, async () => {
    const order = await moves.newOrder();
    await happen(moves.world, order, 'Paid');
    await receive(order, 12n);
    await stand(order, { final: 15n, held: 10_000_000n });
    await raise(order, 10_000_000n, 15n, 'overpaid');
    assert.equal(await told(order), 'open sure 10000000, told 1');
    await takeBack(moves.world, order);
    await happen(moves.world, order, 'Paid');
    await stand(order, { final: 16n, held });
    assert.equal(await told(order), inDoubt);
    await check();
    assert.equal(await told(order), outcome);
  });
