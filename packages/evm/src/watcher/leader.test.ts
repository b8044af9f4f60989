import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { silentLog, systemClock } from '../../test/context.ts';
import { type TestDatabase, testDatabase } from '../../test/database.ts';
import { type WatchedChain, watchedChain } from '../../test/watched-chain.ts';
import { haltChain } from './chain-move.ts';
import { backfillChain, resumeChain } from './cursor.ts';
import type { BlockHandler } from './event.ts';
import { type Leadership, leadershipOf } from './leader.ts';
import { runWatcher } from './watcher.ts';

let database: TestDatabase;
let world: WatchedChain;
let stop: AbortController;
/** The clocks of two processes, which disagree. */
const times = { first: 5_000_000, second: 0 };

before(async () => {
  database = await testDatabase();
});
after(() => database.close());
beforeEach(async () => {
  world = await watchedChain(database);
  stop = new AbortController();
});
afterEach(async () => {
  stop.abort();
  await world.close();
});

function process(name: 'first' | 'second', isGone = false): Leadership {
  return leadershipOf({
    chainId: world.chain.chainId,
    candidate: { id: name, isGone: () => isGone },
    db: database.db,
    clock: { ...systemClock, monotonicMs: () => times[name] },
    log: silentLog,
  });
}

test('one process leads, and a second one only after the first has sent no heartbeat for two seconds', async () => {
  await world.watcher().catchUp();
  const [first, second] = [process('first'), process('second')];
  await first.check();
  await second.check();
  for (let beat = 0; beat < 10; beat += 1) {
    times.second += 400;
    await first.check();
    await second.check();
  }
  assert.deepEqual([first.term(), second.term()], [1n, undefined]);
  times.second += 1_999;
  await second.check();
  assert.equal(second.term(), undefined);
  times.second += 1;
  await second.check();
  assert.deepEqual([first.term(), second.term()], [1n, 2n], 'the first one sleeps and does not know');
  await first.check();
  assert.equal(first.term(), undefined);
});

test('another process leads at once when the leader is known to have ended', async () => {
  await world.watcher().catchUp();
  await process('first').check();
  const second = process('second', true);
  await second.check();
  assert.equal(second.term(), 2n);
});

test('of two processes that try to lead at once, one becomes leader', async () => {
  await world.watcher().catchUp();
  const both = [process('first'), process('second')];
  await Promise.all(both.map((each) => each.check()));
  assert.equal(both.filter((each) => each.term() !== undefined).length, 1);
});

test('a leader that was suspended during a round and resumes late changes nothing', async () => {
  const [first, second] = [process('first'), process('second', true)];
  const honest = world.watcher();
  await honest.catchUp();
  await first.check();
  await world.emit(1);
  await world.anvil.mine(3);
  // This watcher pauses between its read and its write: the write belongs to its old term.
  let wakeUp = () => {};
  const paused = new Promise<void>((resolve) => {
    wakeUp = resolve;
  });
  let isReading = () => {};
  const reading = new Promise<void>((resolve) => {
    isReading = resolve;
  });
  const sleepy = world.watcher({
    term: first.term(),
    rpc: {
      ...honest.watcher.rpc,
      async batch(calls, options) {
        const outcomes = await honest.watcher.rpc.batch(calls, options);
        if (calls[0]?.method === 'eth_getBlockReceipts') {
          isReading();
          await paused;
        }
        return outcomes;
      },
    },
  });
  const late = sleepy.round();
  await reading;
  await second.check();
  assert.equal(second.term(), 2n);
  const before = await world.cursor();
  wakeUp();
  assert.equal(await late, 'contested');
  assert.deepEqual([await world.cursor(), world.story], [before, []], 'the cursor itself had not moved');
  await world.watcher({ term: second.term() }).catchUp();
  assert.deepEqual(world.story, ['block 1: 1']);
});

test('every kind of move is refused in an old leader term', async () => {
  const current = world.watcher();
  await world.anvil.mine(10);
  await current.catchUp();
  await process('first').check();
  await process('second', true).check();
  await world.anvil.mine(3);
  const before = await world.cursor();
  await world.watcher({ term: 1n }).round();
  assert.deepEqual(await world.cursor(), before, 'empty blocks and finality');
  await world.watcher({ term: 2n }).catchUp();
  await world.anvil.request('anvil_reorg', [2, []]);
  await world.anvil.mine();
  const forked = await world.cursor();
  await world.watcher({ term: 1n }).round();
  assert.deepEqual(await world.cursor(), forked, 'a reorg');
  await world.anvil.request('anvil_reorg', [10, []]);
  await world.watcher({ term: 1n }).round();
  assert.deepEqual(await world.cursor(), forked, 'a halt');
});

test('a request of an operator is not completed in an old leader term', async () => {
  const { chainId } = world.chain;
  const current = world.watcher();
  await world.anvil.mine(10);
  await current.catchUp();
  await process('first').check();
  await process('second', true).check();
  await haltChain(current.watcher, await world.cursor(), 'a false alarm');
  await resumeChain(database.db, systemClock, chainId);
  const resumed = await world.cursor();
  assert.equal(resumed.isResyncDue, true);
  const sleepy = world.watcher({ term: 1n });
  assert.equal(await sleepy.round(), 'contested');
  assert.deepEqual([await world.cursor(), sleepy.state.acceptedFinal], [resumed, undefined], 'a resync');
  await world.watcher({ term: 2n }).catchUp();
  await backfillChain(database.db, systemClock, { chainId, from: 1n });
  const asked = await world.cursor();
  assert.equal(asked.backfillNext, 1n);
  assert.equal(await world.watcher({ term: 1n }).round(), 'contested');
  assert.deepEqual(await world.cursor(), asked, 'a backfill');
  assert.equal(await world.watcher({ term: 2n }).catchUp(), 'idle');
  assert.equal((await world.cursor()).backfillNext, undefined);
});

test('of two running watchers one follows the chain, and the other takes over when the first one stops', async () => {
  const told: string[] = [];
  const named = (name: string): BlockHandler => ({
    ...world.handler,
    async onBlock(_transaction, _chain, block) {
      told.push(`${name} ${block.number}`);
    },
  });
  const { rpc, source } = world.watcher().watcher;
  const parts = { chain: world.chain, rpc, source, db: database.db, clock: systemClock, log: silentLog };
  const until = async (length: number) => {
    const deadline = performance.now() + 120_000;
    while (told.length < length) {
      if (performance.now() > deadline) throw new Error(`told no more than ${told.join(', ')}`);
      await systemClock.sleep(20);
    }
  };
  const firstStop = new AbortController();
  const first = runWatcher({ ...parts, handler: named('first'), signal: firstStop.signal });
  await world.emit(1);
  await world.anvil.mine();
  await until(1);
  // The clock of the second process stops. It then leads only after the first one resigns, and not because a slow
  // machine delayed the first.
  const clock = { ...systemClock, monotonicMs: () => 0 };
  const second = runWatcher({ ...parts, clock, handler: named('second'), signal: stop.signal });
  for (const order of [2, 3]) {
    await world.emit(order);
    await world.anvil.mine();
    await until(order);
  }
  firstStop.abort();
  await first;
  await world.emit(4);
  await world.anvil.mine();
  await until(4);
  stop.abort();
  await second;
  assert.deepEqual(told, ['first 1', 'first 2', 'first 3', 'second 4']);
});
