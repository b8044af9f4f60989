import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { silentLog, systemClock } from '../../test/context.ts';
import { type TestDatabase, testDatabase } from '../../test/database.ts';
import { liesAbout } from '../../test/lies.ts';
import { type WatchedChain, watchedChain } from '../../test/watched-chain.ts';
import { type HttpRpc, openHttpRpc } from '../nodes/http-rpc.ts';
import { RpcUnavailable } from '../nodes/rpc.ts';

let database: TestDatabase;
let world: WatchedChain;
/** A connection to the lying node alone. */
let liarOnly: HttpRpc;
before(async () => {
  database = await testDatabase();
  world = await watchedChain(database, { nodes: 2 });
  const urls = world.proxies.slice(0, 1).map((proxy) => proxy.url);
  liarOnly = openHttpRpc({ chainId: world.chain.chainId, urls, clock: systemClock, log: silentLog });
  await world.watcher().catchUp();
});
after(async () => {
  await liarOnly.close();
  await world.close();
  await database.close();
});

for (const name of liesAbout(0n).keys()) {
  test(`a lie is refused from a single node, and harmless with an honest one: ${name}`, async () => {
    const [liar] = world.proxies;
    assert.ok(liar !== undefined);
    const { headNumber } = await world.cursor();
    const height = headNumber + 1n;
    world.story.length = 0;
    await world.emit(1, 2);
    await world.anvil.mine();
    liar.lie = liesAbout(height).get(name);
    await assert.rejects(world.watcher({ rpc: liarOnly }).round(), RpcUnavailable);
    assert.deepEqual(
      [(await world.cursor()).headNumber, world.story],
      [headNumber, []],
      'the only node is not believed',
    );
    // The lying node comes first in the configuration: its answer is refused, and the next round uses the other one.
    const both = world.watcher();
    await both.round().catch((error: unknown) => {
      assert.ok(error instanceof RpcUnavailable);
      both.watcher.rpc.demote?.(error.message);
    });
    await both.catchUp();
    liar.lie = undefined;
    assert.deepEqual(
      world.story.filter((line) => line.startsWith('block')),
      [`block ${height}: 1 2`],
    );
    assert.equal((await world.cursor()).headNumber, height);
  });
}
