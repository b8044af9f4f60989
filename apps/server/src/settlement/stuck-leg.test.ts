import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { findCursor } from '@florin/evm';
import { moveBackfill } from '@florin/evm/testing';
import { deepOnly } from '../../test/harness/deep-only.ts';
import { SettlementWorld } from '../../test/harness/settlement-fixture.ts';
import { settlementRound } from './settlement.ts';

let world: SettlementWorld;
before(async () => {
  world = await SettlementWorld.open();
});
after(() => world.close());

const settle = () => settlementRound(world.deps, world.chain('ethereum'), 'settle');

async function cursor() {
  const found = await findCursor(world.database.db, world.chain('ethereum').chainId);
  assert.ok(found !== undefined);
  return found;
}

/** The watcher has read again up to the final block, and found nothing. */
async function endBackfill(): Promise<void> {
  const { backfillNext = 0n, finalNumber } = await cursor();
  const { chainId } = world.chain('ethereum');
  await world.database.db.query(moveBackfill, {
    chainId,
    next: finalNumber + 1n,
    updatedAt: world.clock.now(),
    expectedNext: backfillNext,
    term: null,
  });
}

/** A settlement of ours is in a final block whose node left its log out. */
async function settleUnreported() {
  const sessionId = await world.openSession('ethereum::usdc');
  const order = await world.signOrder(sessionId, 'ethereum::usdc');
  await world.mineFinal('ethereum', ['Paid', order]);
  await settle();
  const hash = await world.mineFinal('ethereum');
  return { sessionId, order, hash, mined: (await cursor()).finalNumber };
}

test('blocks in which our transaction succeeded are read again, with growing delays, until its event is found', async () => {
  const { sessionId, order, hash, mined } = await settleUnreported();
  await settle();
  assert.equal((await cursor()).backfillNext, undefined, 'a transaction without an outcome is waited for');
  await world.finishTransactions(order, hash);
  await settle();
  assert.equal((await cursor()).backfillNext, mined);
  await endBackfill();
  await settle();
  assert.equal((await cursor()).backfillNext, undefined, 'not at once again');
  world.clock.time += 20_000;
  await settle();
  assert.equal((await cursor()).backfillNext, mined);
  await endBackfill();
  world.clock.time += 20_000;
  await settle();
  assert.equal((await cursor()).backfillNext, mined);
  await endBackfill();
  world.clock.time += 20_000;
  await settle();
  assert.equal((await cursor()).backfillNext, undefined, 'the delay has grown');
  await world.mineFinal('ethereum', ['Settled', order]);
  assert.equal((await world.session(sessionId)).status, 'completed');
  world.clock.time += 24 * 3_600_000;
  await settle();
  assert.equal((await cursor()).backfillNext, undefined, 'the event has come');
});

test('after a day without the event, blocks are not read again', deepOnly, async () => {
  const { order, hash } = await settleUnreported();
  await world.finishTransactions(order, hash);
  let asked = 0;
  for (let minute = 0; minute < 3 * 24 * 60; minute += 10) {
    await settle();
    if ((await cursor()).backfillNext !== undefined) asked += 1;
    await endBackfill();
    world.clock.time += 600_000;
  }
  assert.ok(asked > 5 && asked < 20, `asked ${asked} times`);
});
