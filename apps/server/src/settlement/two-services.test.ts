import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Database, statement } from '@florin/pg';
import { SettlementWorld } from '../../test/harness/settlement-fixture.ts';
import { settlementRound } from './settlement.ts';

const sentCount = statement({
  name: 'two_services_test_sent',
  columns: { sent: 'int8' },
  text: 'select count(*) as sent from sent_transactions',
});

let world: SettlementWorld;
before(async () => {
  world = await SettlementWorld.open();
});
after(() => world.close());

// proves W4.19
test('when two services read the same payment at once, one of them settles it', async () => {
  const sessionId = await world.openSession('ethereum::usdc');
  const order = await world.signOrder(sessionId, 'ethereum::usdc');
  await world.mineFinal('ethereum', ['Paid', order]);
  const { db } = world.deps;
  const both = Promise.withResolvers<void>();
  let waiting = 0;
  // Neither records its transaction before the other has read the due legs.
  const transaction: Database['transaction'] = async (work) => {
    waiting += 1;
    if (waiting === 2) both.resolve();
    await both.promise;
    return db.transaction(work);
  };
  const service = () =>
    settlementRound({ ...world.deps, db: { ...db, transaction } }, world.chain('ethereum'), 'settle');
  await Promise.all([service(), service()]);
  assert.deepEqual(await db.query(sentCount), [{ sent: 1n }]);
  assert.equal((await world.sent(order)).length, 1);
});
