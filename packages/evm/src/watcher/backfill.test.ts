import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { systemClock } from '../../test/context.ts';
import { type TestDatabase, testDatabase } from '../../test/database.ts';
import { watchedChain } from '../../test/watched-chain.ts';
import { backfillChain } from './cursor.ts';
import { deleteEvents } from './watcher.sql.ts';

let database: TestDatabase;
before(async () => {
  database = await testDatabase();
});
after(() => database.close());

test('blocks are read again from another node if the first one lies, with growing delays', async (t) => {
  const world = await watchedChain(database, { nodes: 2 });
  t.after(() => world.close());
  // The clock stops, so that pauses are exact.
  const own = world.watcher({ clock: { ...systemClock, monotonicMs: () => 0 } });
  await world.emit(1);
  await world.anvil.mine(20);
  await own.catchUp();
  await database.db.query(deleteEvents, { chainId: world.chain.chainId, blockNumber: 1 });
  world.story.length = 0;
  for (const proxy of world.proxies)
    proxy.lie = (method, _params, result) => (method === 'eth_getBlockReceipts' ? [] : result);
  await backfillChain(database.db, systemClock, { chainId: world.chain.chainId, from: 1n });
  const pauses: number[] = [];
  for (let round = 0; round < 4; round += 1) {
    own.state = { ...own.state, backfillAtMs: 0 };
    await own.round();
    pauses.push(own.state.backfillAtMs / 1_000);
    const asked = world.proxies.map((proxy) => proxy.seen.get('eth_getBlockReceipts') ?? 0);
    await own.round();
    const askedAgain = world.proxies.map((proxy) => proxy.seen.get('eth_getBlockReceipts') ?? 0);
    assert.deepEqual(askedAgain, asked, 'nothing is read during the pause');
  }
  assert.deepEqual(pauses, [1, 2, 4, 8]);
  assert.deepEqual(world.story, []);
  const [, honest] = world.proxies;
  if (honest !== undefined) honest.lie = (_method, _params, result) => result;
  for (let round = 0; round < 4 && world.story.length === 0; round += 1) {
    own.state = { ...own.state, backfillAtMs: 0 };
    await own.round();
  }
  assert.deepEqual(world.story, ['block 1: 1', 'final 1: 1']);
});
