import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { systemClock } from '../../test/context.ts';
import { type TestDatabase, testDatabase } from '../../test/database.ts';
import { type WatchedChain, watchedChain } from '../../test/watched-chain.ts';
import { haltChain } from './chain-move.ts';
import { resumeChain } from './cursor.ts';

let database: TestDatabase;
before(async () => {
  database = await testDatabase();
});
after(() => database.close());

async function mineWith(world: WatchedChain, number: number): Promise<void> {
  await world.emit(number);
  await world.anvil.mine();
}

/**
 * A watcher that has followed the chain so far. A test may act after the watcher has read the cursor and before it
 * moves it.
 */
async function following(world: WatchedChain) {
  const { rpc } = world.watcher().watcher;
  let meanwhile: (() => Promise<unknown>) | undefined;
  const own = world.watcher({
    rpc: {
      ...rpc,
      async batch(calls, options) {
        const outcomes = await rpc.batch(calls, options);
        const happen = meanwhile;
        meanwhile = undefined;
        await happen?.();
        return outcomes;
      },
    },
  });
  await mineWith(world, 0);
  await own.catchUp();
  return {
    own,
    roundWith(happen: () => Promise<unknown>) {
      meanwhile = happen;
      return own.round();
    },
  };
}

test('a round does not move a chain that another process has moved, halted or resumed meanwhile', async (t) => {
  const world = await watchedChain(database);
  t.after(() => world.close());
  const { own, roundWith } = await following(world);
  const contestedRound = async (number: number, happen: () => Promise<unknown>) => {
    await mineWith(world, number);
    let told: readonly string[] = [];
    const found = await roundWith(async () => {
      await happen();
      told = [...world.story];
    });
    assert.deepEqual([found, world.story], ['contested', told]);
  };
  await contestedRound(1, () => world.watcher().catchUp());
  await own.catchUp();
  const halt = async () => haltChain(own.watcher, await world.cursor(), 'by a test');
  await contestedRound(2, halt);
  assert.equal(await own.catchUp(), 'halted');
  await resumeChain(database.db, systemClock, world.chain.chainId);
  await own.catchUp();
  await contestedRound(3, async () => {
    await halt();
    await resumeChain(database.db, systemClock, world.chain.chainId);
  });
  await own.catchUp();
  assert.deepEqual(
    world.story.filter((line) => line.startsWith('block')).map((line) => line.split(': ')[1]),
    ['0', '1', '2', '3'],
  );
});

test('data that a watcher read before it was suspended does not halt a chain that was resynced meanwhile', async (t) => {
  const world = await watchedChain(database);
  t.after(() => world.close());
  const { own, roundWith } = await following(world);
  await world.anvil.mine(9);
  await own.catchUp();
  assert.equal((await world.cursor()).finalNumber, 6n);
  await world.anvil.request('anvil_reorg', [10, []]);
  await world.anvil.mine();
  // The first watcher pauses; another one leads while the chain forks below its final block.
  const found = await roundWith(async () => {
    const other = world.watcher();
    assert.equal(await other.catchUp(), 'halted');
    await resumeChain(database.db, systemClock, world.chain.chainId);
    assert.equal(await other.catchUp(), 'idle');
  });
  assert.equal(found, 'contested');
  assert.equal((await world.cursor()).haltedReason, '');
  assert.equal(await own.catchUp(), 'idle');
});
