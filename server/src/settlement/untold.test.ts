import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setOutcomes } from '#chains/sender/sender.sql.ts';
import { findCursor } from '#chains/watcher/cursor.ts';
import { moveBackfill } from '#chains/watcher/watcher.sql.ts';
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

/** The watcher has read up to the final block again, and found nothing. */
async function endBackfill(): Promise<void> {
  const { backfillNext = 0n, finalNumber } = await cursor();
  const { chainId } = world.chain('ethereum');
  await world.database.db.query(moveBackfill, [
    chainId,
    finalNumber + 1n,
    world.clock.now(),
    backfillNext,
    null,
  ]);
}

test('blocks in which our transaction succeeded are read again until its event comes, ever less often', async () => {
  const sessionId = await world.openSession('ethereum::usdc');
  const order = await world.signOrder(sessionId, 'ethereum::usdc');
  await world.mineFinal('ethereum', ['Paid', order]);
  await settle();
  const [sent] = await world.sent(order);
  assert.ok(sent !== undefined);
  // The block has the settlement; the node that told of it has left that log out.
  const hash = await world.mineFinal('ethereum');
  const mined = (await cursor()).finalNumber;
  await settle();
  assert.equal((await cursor()).backfillNext, undefined, 'what has no outcome yet is waited for');
  const outcome = [[sent.transaction_id], ['succeeded'], [hash], [mined], world.clock.now(), 0n];
  await world.database.db.query(setOutcomes, outcome);
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
  assert.equal((await cursor()).backfillNext, undefined, 'ever less often');
  await world.mineFinal('ethereum', ['Settled', order]);
  assert.equal((await world.session(sessionId)).status, 'completed');
  world.clock.time += 24 * 3_600_000;
  await settle();
  assert.equal((await cursor()).backfillNext, undefined, 'the event has come');
});

test('what stays untold is left to people after a day', async () => {
  const sessionId = await world.openSession('ethereum::usdc');
  const order = await world.signOrder(sessionId, 'ethereum::usdc');
  await world.mineFinal('ethereum', ['Paid', order]);
  await settle();
  const [sent] = await world.sent(order);
  assert.ok(sent !== undefined);
  const hash = await world.mineFinal('ethereum');
  const mined = (await cursor()).finalNumber;
  const outcome = [[sent.transaction_id], ['succeeded'], [hash], [mined], world.clock.now(), 0n];
  await world.database.db.query(setOutcomes, outcome);
  let asked = 0;
  for (let minute = 0; minute < 3 * 24 * 60; minute += 10) {
    await settle();
    if ((await cursor()).backfillNext !== undefined) asked += 1;
    await endBackfill();
    world.clock.time += 600_000;
  }
  assert.ok(asked > 5 && asked < 20, `asked ${asked} times`);
});
