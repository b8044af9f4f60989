import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Transaction } from '@florin/pg';
import { SettlementWorld } from '../../test/harness/settlement-fixture.ts';
import { eachWithLockedOrder } from './event-order.ts';

let world: SettlementWorld;
before(async () => {
  world = await SettlementWorld.open();
});
after(() => world.close());

test('at most fifty sessions of a block are in memory at a time, and all items are processed in order', async () => {
  const first = await world.signOrder(await world.openSession('ethereum::usdc'), 'ethereum::usdc');
  const last = await world.signOrder(await world.openSession('ethereum::usdc'), 'ethereum::usdc');
  const strangers = Array.from({ length: 99 }, (_, number) => `0x${number.toString(16).padStart(64, '0')}`);
  const orderIds = [last.orderId, ...strangers, first.orderId, last.orderId];
  const asked: number[] = [];
  const processed: [string, string | undefined][] = [];
  await world.database.db.transaction(async (transaction) => {
    const counting: Transaction = {
      ...transaction,
      query: (statement, ...values) => {
        const [orders] = statement.positioned(...values);
        asked.push((orders as string[]).length);
        return transaction.query(statement, ...values);
      },
    };
    const items = orderIds.map((orderId) => ({ orderId }));
    await eachWithLockedOrder(counting, items, async ({ orderId }, found) => {
      processed.push([orderId, found?.session.sessionId]);
      return undefined;
    });
  });
  assert.deepEqual(asked, [50, 50, 2]);
  const known = new Map<string, string>([first, last].map((order) => [order.orderId, order.sessionId]));
  assert.deepEqual(
    processed,
    orderIds.map((orderId) => [orderId, known.get(orderId)]),
  );
});
