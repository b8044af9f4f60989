import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { systemClock } from '../../test/context.ts';
import { type TestDatabase, testDatabase } from '../../test/database.ts';
import { emitter, eventCall, idOf } from '../../test/emitter.ts';
import { type TestWatcher, type WatchedChain, watchedChain } from '../../test/watched-chain.ts';
import { getBlock } from '../nodes/actions.ts';
import type { Rpc, RpcCall } from '../nodes/rpc.ts';
import { haltChain } from './chain-move.ts';
import { backfillChain, resumeChain } from './cursor.ts';
import type { LogSource } from './event.ts';
import { dropBlocks } from './recovery.sql.ts';
import { deleteEvents } from './watcher.sql.ts';

let database: TestDatabase;
let world: WatchedChain;
before(async () => {
  database = await testDatabase();
});
after(() => database.close());
beforeEach(async () => {
  world = await watchedChain(database);
});
afterEach(() => world.close());

async function resume(): Promise<void> {
  await resumeChain(database.db, systemClock, world.chain.chainId);
}

/**
 * Puts order 1 in a final block and order 2 above it, removes both from the chain, and lets the watcher halt it. Returns
 * the transaction of order 1.
 */
async function haltByDeepReorg(own: TestWatcher): Promise<unknown> {
  const { anvil, story } = world;
  const [hash] = await world.emit(1);
  await anvil.mine();
  const raw = await anvil.request('eth_getRawTransactionByHash', [hash]);
  await anvil.mine(8);
  await world.emit(2);
  await anvil.mine();
  await own.catchUp();
  await anvil.request('anvil_reorg', [10, []]);
  assert.equal(await own.catchUp(), 'halted');
  assert.deepEqual(story.splice(0), ['block 1: 1', 'block 10: 2', 'final 6: 1']);
  return raw;
}

test('a resumed chain goes back to the last block that it still has, and does not halt again', async () => {
  const own = world.watcher();
  await haltByDeepReorg(own);
  await resume();
  assert.equal(await own.catchUp(), 'idle');
  assert.deepEqual(world.story, ['reorg: 2', 'dropped: 1']);
  await world.anvil.mine(20);
  assert.equal(await world.watcher().catchUp(), 'idle');
  const head = await getBlock(own.watcher.rpc, 'latest');
  const cursor = await world.cursor();
  assert.deepEqual(
    [cursor.headHash, cursor.finalNumber, cursor.isResyncDue],
    [head?.hash, (head?.number ?? 0n) - 4n, false],
  );
  assert.deepEqual(await world.dropped(), [[1, false]], 'what did not come back is told');
});

test('a final event that comes back after a resumed chain is reported once more and no longer missing', async () => {
  const own = world.watcher();
  const raw = await haltByDeepReorg(own);
  await resume();
  await own.catchUp();
  await world.anvil.request('eth_sendRawTransaction', [raw]);
  await world.anvil.mine(8);
  await own.catchUp();
  assert.deepEqual(world.story.slice(2), ['block 11: 1', 'final 14: 1']);
  assert.deepEqual(await world.dropped(), [[1, true]]);
});

test('an event of an order that comes back by another transaction is no longer missing', async () => {
  const own = world.watcher();
  await haltByDeepReorg(own);
  await resume();
  await own.catchUp();
  await world.anvil.mine();
  await world.emit(2, 1);
  await world.anvil.mine(8);
  await own.catchUp();
  assert.deepEqual(await world.dropped(), [[1, true]]);
});

test('an event that is counted per transaction comes back only by its own and from its own contract', async () => {
  const handler = { ...world.handler, perTransaction: ['Noted'] };
  const own = world.watcher({ handler });
  const raw = await haltByDeepReorg(own);
  await resume();
  await own.catchUp();
  const other = { from: world.anvil.accounts[1]?.address, to: emitter, data: eventCall(idOf(1)) };
  await world.anvil.request('eth_sendTransaction', [other]);
  await world.anvil.mine(8);
  await own.catchUp();
  assert.deepEqual(world.story.slice(2), ['block 11: 1', 'final 14: 1']);
  assert.deepEqual(await world.dropped(), [[1, false]], 'an equal event of another transaction');
  await world.anvil.request('eth_sendRawTransaction', [raw]);
  await world.anvil.mine();
  const { source } = own.watcher;
  const elsewhere: LogSource = {
    ...source,
    decode: (header, logs) => source.decode(header, logs).map((event) => ({ ...event, contract: 'other' })),
  };
  await world.watcher({ source: elsewhere, handler }).catchUp();
  await world.anvil.mine(8);
  await own.catchUp();
  assert.deepEqual(await world.dropped(), [[1, false]], 'an equal event of another contract');
  await backfillChain(database.db, systemClock, { chainId: world.chain.chainId, from: 0n });
  await own.catchUp();
  assert.deepEqual(await world.dropped(), [[1, true]]);
});

test('resuming a chain that still has its final block reverts nothing', async () => {
  const own = world.watcher();
  await world.emit(1);
  await world.anvil.mine(10);
  await own.catchUp();
  await haltChain(own.watcher, await world.cursor(), 'a false alarm');
  assert.equal(await own.catchUp(), 'halted');
  await resume();
  assert.equal(await own.catchUp(), 'idle');
  assert.deepEqual([world.story, await world.dropped()], [['block 1: 1', 'final 6: 1'], []]);
});

test('after a reorg deeper than all stored blocks, the whole chain is read again', async () => {
  const own = world.watcher();
  await haltByDeepReorg(own);
  await database.db.query(dropBlocks, { chainId: world.chain.chainId, above: -1 });
  await resume();
  assert.equal(await own.catchUp(), 'idle');
  assert.equal((await world.cursor()).headNumber, 10n);
  assert.deepEqual(await world.dropped(), [[1, false]]);
});

test('a finalized height that decreases halts the chain, after a delay for nodes that lag', async () => {
  let now = 0;
  const clock = { ...systemClock, monotonicMs: () => now };
  await world.anvil.mine(20);
  const honest = world.watcher();
  await honest.catchUp();
  const earlier = await world.anvil.request('eth_getBlockByNumber', ['0x5', false]);
  const own = world.watcher({ rpc: answering(honest.watcher.rpc, 'finalized', earlier), clock });
  assert.equal(await own.catchUp(), 'idle');
  now += 29_000;
  assert.equal(await own.catchUp(), 'idle');
  now += 2_000;
  assert.equal(await own.catchUp(), 'halted');
  assert.equal((await world.cursor()).haltedReason, 'the finalized block went back from 16 to 5');
  await resume();
  now += 100_000;
  assert.equal(await own.catchUp(), 'idle', 'an operator has seen it');
});

/** The same node with one false answer: the block for a tag or a height. */
function answering(honest: Rpc, block: string, lie: unknown): Rpc {
  const isAsked = (call: RpcCall | undefined) =>
    call?.method === 'eth_getBlockByNumber' && call.params[0] === block;
  return {
    request: async (method, params) => (isAsked({ method, params }) ? lie : honest.request(method, params)),
    batch: async (calls) =>
      (await honest.batch(calls)).map((outcome, index) =>
        isAsked(calls[index]) ? { result: lie } : outcome,
      ),
  };
}

test('events that are missing from final blocks are added by a backfill, and no others', async () => {
  const { chainId } = world.chain;
  const own = world.watcher();
  await world.emit(1);
  await world.anvil.mine();
  await world.emit(2);
  await world.anvil.mine(12);
  await own.catchUp();
  await database.db.query(deleteEvents, { chainId, blockNumber: 2 });
  world.story.length = 0;
  assert.equal(await backfillChain(database.db, systemClock, { chainId, from: 99n }), undefined);
  assert.equal(await backfillChain(database.db, systemClock, { chainId, from: 0n }), 9n);
  assert.equal(await own.catchUp(), 'idle');
  assert.deepEqual(world.story, ['block 2: 2', 'final 2: 2']);
  assert.equal((await world.cursor()).backfillNext, undefined);
});

test('earlier blocks that are requested during a backfill are read, too', async () => {
  const { chainId } = world.chain;
  await world.emit(1);
  await world.anvil.mine();
  await world.emit(2);
  await world.anvil.mine(12);
  const honest = world.watcher();
  await honest.catchUp();
  await database.db.query(deleteEvents, { chainId, blockNumber: 1 });
  world.story.length = 0;
  let isAskedFor = false;
  const own = world.watcher({
    rpc: {
      ...honest.watcher.rpc,
      async batch(calls, options) {
        const outcomes = await honest.watcher.rpc.batch(calls, options);
        if (calls.some(({ params }) => params[0] === '0x3') && !isAskedFor) {
          isAskedFor = true;
          await backfillChain(database.db, systemClock, { chainId, from: 0n });
        }
        return outcomes;
      },
    },
  });
  await backfillChain(database.db, systemClock, { chainId, from: 3n });
  assert.equal(await own.catchUp(), 'idle');
  assert.deepEqual([isAskedFor, world.story], [true, ['block 1: 1', 'final 1: 1']]);
  assert.equal((await world.cursor()).backfillNext, undefined);
});

test('a node without old blocks delays a backfill, but not the chain', async () => {
  const { chainId } = world.chain;
  await world.anvil.mine(12);
  const honest = world.watcher();
  await honest.catchUp();
  const own = world.watcher({ rpc: answering(honest.watcher.rpc, '0x3', null) });
  await backfillChain(database.db, systemClock, { chainId, from: 1n });
  await world.emit(1);
  await world.anvil.mine();
  assert.equal(await own.catchUp(), 'idle');
  assert.deepEqual(world.story, ['block 13: 1']);
  assert.equal(await honest.catchUp(), 'idle');
  assert.equal((await world.cursor()).backfillNext, undefined);
});
