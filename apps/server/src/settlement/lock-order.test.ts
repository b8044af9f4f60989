import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { statement } from '@florin/pg';
import { lockSession } from '#sessions/session.ts';
import { untilLockWaiter } from '../../test/harness/lock-waiter.ts';
import { SettlementWorld } from '../../test/harness/settlement-fixture.ts';
import { settlementRound } from './settlement.ts';

const lockLeg = statement({
  name: 'lock_order_test_leg',
  parameters: { orderId: 'text' },
  columns: { status: 'text' },
  text: 'select status from settlements where order_id = :orderId for update nowait',
});

let world: SettlementWorld;
before(async () => {
  world = await SettlementWorld.open();
});
after(() => world.close());

test('a settlement locks the session before its leg, so that a refund cannot deadlock with it', async () => {
  const sessionId = await world.openSession('ethereum::usdc', 1_000_000);
  const order = await world.signOrder(sessionId, 'ethereum::usdc');
  await world.mineFinal('ethereum', ['Paid', order]);
  const round = await world.database.db.transaction(async (transaction) => {
    await lockSession(transaction, sessionId);
    const settling = settlementRound(world.deps, world.chain('ethereum'), 'settle');
    await untilLockWaiter(world.database.db);
    // The settlement waits without holding the leg, so the holder of the session can lock it.
    assert.equal((await transaction.query(lockLeg, { orderId: order.orderId })).length, 1);
    return { settling };
  });
  await round.settling;
  assert.equal((await world.legs(order))[0]?.status, 'sent');
});
