import assert from 'node:assert/strict';
import { after, before, type TestContext, test } from 'node:test';
import { silentLog, systemClock } from '../../test/context.ts';
import { type TestDatabase, testDatabase } from '../../test/database.ts';
import { emitterSource } from '../../test/emitter.ts';
import { watchedChain } from '../../test/watched-chain.ts';
import { openHttpRpc } from '../nodes/http-rpc.ts';
import type { FollowedChain } from './chain.ts';
import { findCursor } from './cursor.ts';
import { finalizeEvents } from './watcher.sql.ts';
import { runWatcher } from './watcher.ts';

let database: TestDatabase;
before(async () => {
  database = await testDatabase();
});
after(() => database.close());

/** A chain, and the options of a watcher that runs until the test ends. */
async function watched(t: TestContext, changes: Partial<FollowedChain> = {}) {
  const world = await watchedChain(database, { changes });
  const stop = new AbortController();
  t.after(async () => {
    // Ends every loop that a failed assertion leaves running.
    stop.abort();
    await world.close();
  });
  const { chain, handler } = world;
  const { rpc } = world.watcher().watcher;
  const source = emitterSource(chain);
  const parts = { chain, handler, rpc, source, db: database.db, clock: systemClock, log: silentLog };
  const cursor = () => findCursor(database.db, chain.chainId);
  return { ...world, cursor, stop, options: { ...parts, signal: stop.signal } };
}

async function waitFor(condition: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 120_000;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error('it did not happen within 120 s');
    await systemClock.sleep(20);
  }
}

test('two watchers of one chain report every event once', async (t) => {
  const { anvil, emit, story, cursor, stop, options } = await watched(t);
  const running = [runWatcher(options), runWatcher(options)];
  for (let block = 1; block <= 30; block += 1) {
    await emit(block);
    await anvil.mine();
    if (block % 7 === 0) await systemClock.sleep(20);
  }
  await anvil.mine(4);
  await waitFor(async () => (await cursor())?.finalNumber === 30n);
  stop.abort();
  await Promise.all(running);
  const numbers = Array.from({ length: 30 }, (_, index) => index + 1);
  assert.deepEqual(
    story.filter((line) => line.startsWith('block')),
    numbers.map((number) => `block ${number}: ${number}`),
  );
  const finals = story
    .filter((line) => line.startsWith('final'))
    .flatMap((line) => line.split(': ')[1]?.split(' '));
  assert.deepEqual(finals.map(Number), numbers);
});

test('the watcher survives outages of its nodes and continues where it stopped', async (t) => {
  const { anvil, emit, story, cursor, stop, ...world } = await watched(t, {
    finality: { tag: 'latest', depth: 2, quorum: 1 },
  });
  const [proxy] = world.proxies;
  assert.ok(proxy !== undefined);
  const { chainId } = world.chain;
  // A node that hangs costs no more than a second.
  const limits = { timeLimitMs: 1_000, clock: systemClock, log: silentLog };
  const rpc = openHttpRpc({ ...limits, chainId, urls: [proxy.url] });
  t.after(() => rpc.close());
  const running = runWatcher({ ...world.options, rpc });
  const faults = ['hang', 'tooManyRequests', 'halfJson', 'hugeBody', 'wrongChainId'] as const;
  for (const [index, fault] of faults.entries()) {
    proxy.faults[fault] = true;
    await emit(index + 1);
    await anvil.mine();
    await systemClock.sleep(100);
    proxy.faults[fault] = false;
    await waitFor(async () => (await cursor())?.headNumber === BigInt(index + 1));
  }
  await waitFor(async () => (await cursor())?.finalNumber === 3n);
  stop.abort();
  await running;
  assert.deepEqual(
    story.filter((line) => line.startsWith('block')),
    [1, 2, 3, 4, 5].map((number) => `block ${number}: ${number}`),
  );
  assert.deepEqual(
    await database.db.query(finalizeEvents, { chainId, finalNumber: 3, finalBefore: 0 }),
    [],
    'all up to 2 below the head are final',
  );
});

test('a notification ends the wait for the next poll', async (t) => {
  const { anvil, emit, story, cursor, stop, options } = await watched(t, { pollIntervalMs: 3_600_000 });
  let wakeUp: () => void = () => {};
  const wake = () => new Promise<void>((resolve) => (wakeUp = resolve));
  const running = runWatcher({ ...options, wake });
  await waitFor(async () => (await cursor()) !== undefined);
  await emit(1);
  await anvil.mine();
  await waitFor(async () => {
    wakeUp();
    return story.length === 1;
  });
  stop.abort();
  await running;
});
