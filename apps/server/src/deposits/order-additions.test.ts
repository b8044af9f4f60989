import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, beforeEach, test } from 'node:test';
import { statement } from '@florin/pg';
import { findOrder } from '#orders/order.ts';
import type { StoredOrder } from '#orders/stored-order.ts';
import { DepositMoves } from '../../test/harness/deposit-moves.ts';
import { untilLockWaiter } from '../../test/harness/lock-waiter.ts';
import { add } from './deposit-move.ts';

const noteAgain = statement({
  name: 'order_additions_test_again',
  text: readFileSync(
    new URL('../db/migrations/0355_additions-of-orders-again.sql', import.meta.url),
    'utf8',
  ).replace(/;\s*$/, ''),
});

const setStatus = statement({
  name: 'order_additions_test_status',
  parameters: { orderId: 'text', status: 'text' },
  text: 'update deposit_moves set status = :status where order_id = :orderId',
});

const setAdded = statement({
  name: 'order_additions_test_added',
  parameters: { orderId: 'text', added: 'numeric' },
  text: 'update orders set added = :added where order_id = :orderId',
});

let moves: DepositMoves;
before(async () => {
  moves = await DepositMoves.open();
});
after(() => moves.close());
beforeEach(() => moves.begin());

/** An order with an addition of 20,000 units. */
async function addedTo(): Promise<StoredOrder> {
  const order = await moves.newOrder();
  const decided = { most: 20_000n, during: 'initialized' } as const;
  assert.equal(await add(moves.deps(), moves.chain, order, decided), true);
  return order;
}

async function addedOf({ orderId }: StoredOrder): Promise<bigint | undefined> {
  return (await findOrder(moves.world.database.db, orderId))?.added;
}

test('an addition that fails while the additions of all orders are read again counts as nothing', async () => {
  const { db } = moves.world.database;
  const order = await addedTo();
  const reading = await db.transaction(async (transaction) => {
    await transaction.query(setStatus, { orderId: order.orderId, status: 'failed' });
    const again = db.query(noteAgain);
    await untilLockWaiter(db);
    return { again };
  });
  await reading.again;
  assert.equal(await addedOf(order), 0n);
});

test('additions that an earlier reading left too old are read again', async () => {
  const { db } = moves.world.database;
  const [failed, sent] = [await addedTo(), await addedTo()];
  await db.query(setStatus, { orderId: failed.orderId, status: 'failed' });
  await db.query(setAdded, { orderId: failed.orderId, added: 20_000n });
  await db.query(setAdded, { orderId: sent.orderId, added: 0n });
  await db.query(noteAgain);
  assert.deepEqual([await addedOf(failed), await addedOf(sent)], [0n, 20_000n]);
});

test('what is added is a part of an order’s total', async () => {
  const { db } = moves.world.database;
  const { orderId, order } = await moves.newOrder();
  for (const added of [-1n, order.total + 1n])
    await assert.rejects(db.query(setAdded, { orderId, added }), /orders_added_check/);
  await db.query(setAdded, { orderId, added: order.total });
});
