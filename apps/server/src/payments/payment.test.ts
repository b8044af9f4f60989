import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { SettlementWorld } from '../../test/harness/settlement-fixture.ts';

let world: SettlementWorld;
before(async () => {
  world = await SettlementWorld.open();
});
after(() => world.close());

test('payments of many sessions in one block are each detected, and each paid when the block is final', async () => {
  const sessionIds: string[] = [];
  const orders = [];
  for (let count = 0; count < 5; count += 1) {
    const sessionId = await world.openSession('ethereum::usdc');
    sessionIds.push(sessionId);
    orders.push(await world.signOrder(sessionId, 'ethereum::usdc'));
  }
  const txHash = await world.mine('ethereum', ...orders.map((order) => ['Paid', order] as const));
  for (const sessionId of sessionIds) {
    assert.equal((await world.session(sessionId)).initiateTx, txHash);
    assert.deepEqual(await world.eventsOf(sessionId), ['session.created', 'session.payment_detected']);
  }
  await world.makeFinal('ethereum');
  for (const sessionId of sessionIds) assert.equal((await world.session(sessionId)).status, 'paid');
});

test('two payments of one session in one block are detected once; the first pays it, the second is a duplicate', async () => {
  const sessionId = await world.openSession('ethereum::usdc');
  const first = await world.signOrder(sessionId, 'ethereum::usdc');
  const second = await world.signOrder(sessionId, 'ethereum::usdc');
  const txHash = await world.mine('ethereum', ['Paid', first], ['Paid', second]);
  assert.equal((await world.session(sessionId)).initiateTx, txHash);
  await world.makeFinal('ethereum');
  const session = await world.session(sessionId);
  assert.deepEqual([session.status, session.orderId], ['paid', first.orderId]);
  assert.deepEqual(await world.eventsOf(sessionId), [
    'session.created',
    'session.payment_detected',
    'session.paid',
    'session.exception duplicate',
  ]);
  const legsOf = async (order: typeof first) => (await world.legs(order)).map(({ leg }) => leg);
  assert.deepEqual([await legsOf(first), await legsOf(second)], [['settle'], ['refund']]);
});
