import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import type { Hex } from 'viem';
import { type Anvil, startTestAnvil } from '../../test/anvil.ts';
import { silentLog, systemClock } from '../../test/context.ts';
import { type TestDatabase, testDatabase } from '../../test/database.ts';
import { emitterSource, eventCall, idOf, installEmitter, sendCalls, testChain } from '../../test/emitter.ts';
import { type LyingRpc, startLyingRpc } from '../../test/lying-rpc.ts';
import { type TestWatcher, testWatcher } from '../../test/watched-chain.ts';
import { getBlock } from '../nodes/actions.ts';
import { getReceiptsOfBlocks } from '../nodes/block-receipts.ts';
import { bloomOf } from '../nodes/bloom.ts';
import { type HttpRpc, openHttpRpc } from '../nodes/http-rpc.ts';
import { type Rpc, RpcUnavailable } from '../nodes/rpc.ts';
import { fetchBlocks } from './block-source.ts';
import type { FollowedChain } from './chain.ts';
import { appendBlocks, CursorChanged, finalize, pruneChain, removeHead, storedBlock } from './chain-move.ts';
import { findCursor } from './cursor.ts';
import { type BlockHandler, inOrder } from './event.ts';
import { deleteEvents } from './watcher.sql.ts';

let database: TestDatabase;
let anvil: Anvil;
let proxy: LyingRpc;
let rpc: HttpRpc;
let chain: FollowedChain;
let story: string[];

/** Records its calls, each event by its number. */
const handler: BlockHandler = {
  async onBlock(_transaction, _chain, block, events) {
    story.push(`block ${block.number}: ${events.map((event) => numberOf(event.orderId)).join(' ')}`);
  },
  async onReorg(_transaction, _chain, removed) {
    story.push(`reorg: ${removed.map((event) => numberOf(event.orderId)).join(' ')}`);
  },
  async onFinal(_transaction, _chain, block, events) {
    if (events.length > 0)
      story.push(`final ${block.number}: ${events.map((e) => numberOf(e.orderId)).join(' ')}`);
  },
};

function numberOf(orderId: Hex): number {
  return Array.from({ length: 200 }, (_, number) => number).findIndex((number) => idOf(number) === orderId);
}

function newWatcher(options: { handler?: BlockHandler; rpc?: Rpc } = {}): TestWatcher {
  const source = emitterSource(chain);
  const parts = { chain, rpc, source, db: database.db, clock: systemClock, log: silentLog, handler };
  return testWatcher({ ...parts, ...options });
}

async function emit(...numbers: readonly number[]): Promise<Hex[]> {
  return sendCalls(
    anvil,
    numbers.map((number) => eventCall(idOf(number))),
  );
}

before(async () => {
  database = await testDatabase();
});
after(() => database.close());
let chainId = 50_000;
beforeEach(async () => {
  // Each test has its own chain, so that all share one database.
  chainId += 1;
  anvil = await startTestAnvil({ chainId });
  await installEmitter(anvil);
  proxy = await startLyingRpc(anvil.url);
  rpc = openHttpRpc({ chainId, urls: [proxy.url], clock: systemClock, log: silentLog, timeLimitMs: 60_000 });
  chain = testChain(anvil);
  story = [];
});
afterEach(async () => {
  await rpc.close();
  await proxy.close();
  await anvil.close();
});

test('every event is reported once when its block arrives and once when the block is final', async () => {
  const own = newWatcher();
  for (let block = 1; block <= 40; block += 1) {
    if (block % 10 === 0) await emit(block, block + 1);
    await anvil.mine();
    if (block % 3 === 0) assert.equal(await own.catchUp(), 'idle');
  }
  await own.catchUp();
  const tens = [10, 20, 30, 40];
  assert.deepEqual(
    story.filter((line) => line.startsWith('block')),
    tens.map((ten) => `block ${ten}: ${ten} ${ten + 1}`),
  );
  // anvil calls a block final two epochs of two slots below the head.
  const cursor = await findCursor(database.db, chainId);
  assert.deepEqual([cursor?.headNumber, cursor?.finalNumber], [40n, 36n]);
  const finals = story.filter((line) => line.startsWith('final')).map((line) => line.replace(/.*: /, ''));
  assert.deepEqual(
    finals,
    tens.slice(0, 3).map((ten) => `${ten} ${ten + 1}`),
  );
});

test("the bloom that we compute from the logs of a block equals the node's", async () => {
  await emit(1, 2, 3);
  await anvil.mine();
  const header = await getBlock(rpc, 1n);
  assert.ok(header !== undefined);
  const [receipts = []] = await getReceiptsOfBlocks(rpc, [header]);
  const logs = receipts.flatMap((receipt) => receipt.logs);
  assert.equal(logs.length, 3);
  assert.equal(bloomOf(logs.flatMap((log) => [log.address, ...log.topics])), header.logsBloom);
});

test('events that are reorged out are reverted', async () => {
  const own = newWatcher();
  await emit(1);
  await anvil.mine();
  await own.catchUp();
  await emit(2);
  await anvil.mine(2);
  await own.catchUp();
  await anvil.request('anvil_reorg', [3, []]);
  await own.catchUp();
  assert.deepEqual(story, ['block 1: 1', 'block 2: 2', 'reorg: 2', 'reorg: 1']);
  const head = await getBlock(rpc, 'latest');
  const cursor = await findCursor(database.db, chainId);
  assert.deepEqual([cursor?.headNumber, cursor?.headHash], [3n, head?.hash]);
  assert.deepEqual(await database.db.query(deleteEvents, { chainId, blockNumber: 2 }), []);
});

test('an event reorged into another block is reported there', async () => {
  const own = newWatcher();
  const [hash] = await emit(1);
  await anvil.mine(3);
  await own.catchUp();
  const raw = await anvil.request('eth_getRawTransactionByHash', [hash]);
  await anvil.request('anvil_reorg', [3, [[raw, 1]]]);
  await own.catchUp();
  await anvil.mine(6);
  await own.catchUp();
  assert.deepEqual(story, ['block 1: 1', 'reorg: 1', 'block 2: 1', 'final 5: 1']);
});

test('a reorg to a longer chain is followed as well', async () => {
  const own = newWatcher();
  await emit(1);
  await anvil.mine(2);
  await own.catchUp();
  await anvil.request('anvil_reorg', [2, []]);
  await emit(7);
  await anvil.mine(3);
  await own.catchUp();
  assert.deepEqual(story, ['block 1: 1', 'reorg: 1', 'block 3: 7']);
});

test('a reorg to a shorter chain is not followed until it grows', async () => {
  const own = newWatcher();
  await emit(1);
  await anvil.mine(3);
  await own.catchUp();
  await anvil.request('anvil_rollback', [3]);
  assert.equal(await own.catchUp(), 'idle');
  assert.equal((await findCursor(database.db, chainId))?.headNumber, 3n);
  await anvil.mine(4);
  await own.catchUp();
  assert.deepEqual(story, ['block 1: 1', 'reorg: 1']);
});

test('a reorg below the final block halts the chain and reverts nothing until it is resumed', async () => {
  const own = newWatcher();
  await emit(1);
  await anvil.mine(10);
  await own.catchUp();
  await anvil.request('anvil_reorg', [9, []]);
  assert.equal(await own.catchUp(), 'halted');
  assert.deepEqual(story, ['block 1: 1', 'final 6: 1']);
  await anvil.mine(3);
  assert.equal(await own.catchUp(), 'halted');
  const cursor = await findCursor(database.db, chainId);
  assert.deepEqual(
    [cursor?.headNumber, cursor?.finalNumber, cursor?.haltedReason],
    [10n, 6n, 'reorg below the final block 6'],
  );
});

/** A node whose finalized chain differs from a height on. */
function forkedFrom(height: bigint): Rpc {
  const fork = (answer: unknown): unknown => {
    const isForked =
      typeof answer === 'object' && answer !== null && 'number' in answer && 'logsBloom' in answer;
    return isForked && BigInt(String(answer.number)) >= height
      ? { ...answer, hash: `0x${'ee'.repeat(32)}` }
      : answer;
  };
  return {
    request: async (method, params) => fork(await rpc.request(method, params)),
    async batch(calls) {
      const outcomes = await rpc.batch(calls);
      return outcomes.map((outcome, index) =>
        'result' in outcome && (calls.length === 1 || calls[index]?.params[0] === 'finalized')
          ? { result: fork(outcome.result) }
          : outcome,
      );
    },
  };
}

test('a node with another finalized block at our final height halts the chain', async () => {
  await anvil.mine(10);
  await newWatcher().catchUp();
  assert.equal(await newWatcher({ rpc: forkedFrom(6n) }).catchUp(), 'halted');
});

test('a block is final only when the finalized chain has the same block, not only its height', async () => {
  await emit(1);
  await anvil.mine(5);
  await newWatcher().catchUp();
  await emit(2);
  await anvil.mine(5);
  assert.equal(await newWatcher({ rpc: forkedFrom(6n) }).catchUp(), 'idle');
  assert.deepEqual(story, ['block 1: 1', 'final 1: 1', 'block 6: 2']);
  await newWatcher().catchUp();
  assert.deepEqual(story.slice(3), ['final 6: 2']);
});

test('a move from a stale cursor changes nothing', async () => {
  chain = testChain(anvil, { finality: { tag: 'latest', depth: 50, quorum: 1 } });
  const own = newWatcher();
  await anvil.mine(3);
  await own.catchUp();
  const stale = await findCursor(database.db, chainId);
  assert.ok(stale !== undefined);
  await emit(1);
  await anvil.mine(2);
  const blocks = await fetchBlocks(own.watcher, 4n, 2);
  await own.catchUp();
  const before = [await findCursor(database.db, chainId), [...story]];
  const [first, second] = blocks;
  assert.ok(first !== undefined && second !== undefined);
  const fake = { ...second, header: { ...second.header, number: 9n } };
  const stored = await storedBlock(own.watcher, 2n);
  assert.ok(stored !== undefined);
  for (const move of [
    () => appendBlocks(own.watcher, stale, [{ ...first, header: { ...first.header, number: 8n } }]),
    () => appendBlocks(own.watcher, stale, [fake]),
    () => removeHead(own.watcher, stale),
    () => finalize(own.watcher, stale, stored),
  ]) {
    await assert.rejects(move(), CursorChanged);
  }
  assert.deepEqual([await findCursor(database.db, chainId), story], before);
});

test('handlers run in their order, and not for a block that cannot be stored', async () => {
  const second: BlockHandler = {
    ...handler,
    async onBlock(_transaction, _chain, block) {
      story.push(`second ${block.number}`);
    },
  };
  const own = newWatcher({ handler: inOrder(handler, second) });
  await own.catchUp();
  const stale = await findCursor(database.db, chainId);
  assert.ok(stale !== undefined);
  await emit(1);
  await anvil.mine();
  const blocks = await fetchBlocks(own.watcher, 1n, 1);
  await own.catchUp();
  await assert.rejects(appendBlocks(own.watcher, stale, blocks), CursorChanged);
  assert.deepEqual(story, ['block 1: 1', 'second 1']);
});

test('an empty list of logs is refused when the bloom promises some', async () => {
  const own = newWatcher();
  proxy.faults.emptyLogs = true;
  await emit(1, 2);
  await anvil.mine();
  await own.catchUp();
  assert.deepEqual(story, ['block 1: 1 2']);
  proxy.faults.noBlockReceipts = true;
  await emit(3);
  await anvil.mine();
  await own.catchUp();
  assert.deepEqual(story, ['block 1: 1 2', 'block 2: 3']);
});

test('a block whose receipts are missing too is read again, never skipped', async () => {
  const own = newWatcher();
  proxy.faults.emptyLogs = true;
  proxy.faults.emptyReceipts = true;
  await emit(1);
  await anvil.mine();
  for (let round = 0; round < 3; round += 1) await assert.rejects(own.round(), RpcUnavailable);
  await anvil.mine(2);
  await assert.rejects(own.round(), RpcUnavailable);
  assert.equal((await findCursor(database.db, chainId))?.headNumber, 0n);
  proxy.faults.emptyReceipts = false;
  await own.catchUp();
  assert.deepEqual(story, ['block 1: 1']);
});

test('a handler that fails rolls back the whole block', async () => {
  await emit(1);
  await anvil.mine();
  const failing = { ...handler, onBlock: () => Promise.reject(new Error('not now')) };
  await assert.rejects(newWatcher({ handler: failing }).round(), { message: 'not now' });
  assert.equal((await findCursor(database.db, chainId))?.headNumber, 0n);
  await newWatcher().catchUp();
  assert.deepEqual(story, ['block 1: 1']);
});

test('long ranges of empty blocks are stored in batches', async (context) => {
  await anvil.mine(300);
  await emit(1);
  await anvil.mine(300);
  const start = performance.now();
  await newWatcher().catchUp();
  const perSecond = Math.round(600 / ((performance.now() - start) / 1000));
  assert.deepEqual(story, ['block 301: 1', 'final 400: 1']);
  assert.equal(proxy.seen.get('eth_getBlockReceipts'), 1, 'blooms spare the questions for receipts');
  const cursor = await findCursor(database.db, chainId);
  assert.deepEqual([cursor?.headNumber, cursor?.finalNumber], [600n, 596n]);
  context.diagnostic(`${perSecond} blocks/s`);
  assert.ok(cursor !== undefined);
  const own = newWatcher();
  await pruneChain(own.watcher, { ...cursor, finalNumber: 2_300n });
  assert.deepEqual(
    [await storedBlock(own.watcher, 299n), (await storedBlock(own.watcher, 300n))?.number],
    [undefined, 300n],
  );
});
