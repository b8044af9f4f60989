import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { microUsd } from '@florin/protocol/money.ts';
import { SettlementWorld } from '../../test/harness/settlement-fixture.ts';
import { type SessionTrigger, sessionMove, sessionTriggers } from './session.machine.ts';
import { lockSession } from './session.ts';
import { moveSession, type SessionChanges } from './session-move.ts';

let world: SettlementWorld;
before(async () => {
  world = await SettlementWorld.open();
});
after(() => world.close());

const at = new Date('2030-01-02T03:04:05.678Z');
const hash = `0x${'ab'.repeat(32)}`;

type Step = readonly [SessionTrigger, SessionChanges?];

const usual: readonly Step[] = [
  ['payment_detected', { initiateTx: hash }],
  ['payment_undetected', { initiateTx: '' }],
  ['payment_detected', { initiateTx: hash }],
  [
    'payment_final',
    {
      payer: `0x${'cd'.repeat(20)}`,
      payerEmail: 'payer@example.com',
      paidToken: 'ethereum::usdc',
      receiptId: 'rcpt_1',
      initiateTx: hash,
      paymentSucceededAt: at,
    },
  ],
  ['settlement_recorded'],
  ['settlement_delayed', { pendingReason: 'vault_short' }],
  ['settlement_recorded'],
  ['settlement_final', { completeTx: hash, settlementSucceededAt: at }],
  ['settlement_refunded', { refundedAmount: microUsd(5n) }],
  ['settlement_delayed', { pendingReason: 'reorged' }],
  ['payment_returned', { refundedAmount: microUsd(7n) }],
];
const late: readonly Step[] = [
  ['expire'],
  ['late_payment_detected', { initiateTx: hash }],
  ['late_payment_undetected', { initiateTx: '' }],
  ['late_payment_final', { initiateTx: hash, paymentSucceededAt: at }],
  ['settlement_recorded'],
];

test('a move returns, and its event shows, the row after the move', async () => {
  for (const [steps, isSigned] of [
    [usual, true],
    [late, true],
    [[['cancel']], false],
  ] as const satisfies readonly (readonly [readonly Step[], boolean])[]) {
    const sessionId = await world.openSession('ethereum::usdc');
    // Signing is the first of all moves.
    const order = isSigned ? await world.signOrder(sessionId, 'ethereum::usdc') : undefined;
    for (const [trigger, changes = {}] of steps as readonly Step[]) {
      const pays = trigger.endsWith('payment_final') && order !== undefined;
      await world.database.db.transaction(async (transaction) => {
        const session = await lockSession(transaction, sessionId);
        if (session === undefined) throw new Error('no session');
        const all = pays ? { ...changes, orderId: order.orderId } : changes;
        const moved = await moveSession(transaction, world.moves, session, trigger, all, order);
        assert.deepEqual(moved, await lockSession(transaction, sessionId), trigger);
      });
    }
  }
});

test('a move of a session that has left its status fails the whole transaction', async () => {
  const { db } = world.database;
  const sessionId = await world.openSession('ethereum::usdc');
  const before = await world.session(sessionId);
  const work = db.transaction(async (transaction) => {
    const session = await lockSession(transaction, sessionId);
    if (session === undefined) throw new Error('no session');
    await moveSession(transaction, world.moves, session, 'expire');
    await moveSession(transaction, world.moves, session, 'cancel');
  });
  await assert.rejects(work, { message: `session ${sessionId} left initialized without its lock` });
  assert.deepEqual(await world.session(sessionId), before);
  assert.deepEqual(await world.eventsOf(sessionId), ['session.created']);
});

// proves W4.10
test('a move that is not in the table changes nothing and raises no event', async () => {
  const { db } = world.database;
  const sessionId = await world.openSession('ethereum::usdc');
  await db.transaction(async (transaction) => {
    const session = await lockSession(transaction, sessionId);
    if (session === undefined) throw new Error('no session');
    const absent = sessionTriggers.filter((trigger) => sessionMove(session, trigger) === undefined);
    assert.ok(absent.includes('settlement_final'));
    for (const trigger of absent)
      assert.equal(await moveSession(transaction, world.moves, session, trigger), undefined, trigger);
    assert.deepEqual(await lockSession(transaction, sessionId), session);
  });
  assert.deepEqual(await world.eventsOf(sessionId), ['session.created']);
});
