import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { systemClock } from '../../test/context.ts';
import { type TestDatabase, testDatabase } from '../../test/database.ts';
import { inventedFrom } from '../../test/lies.ts';
import type { LyingRpc } from '../../test/lying-rpc.ts';
import { type WatchedChain, watchedChain } from '../../test/watched-chain.ts';
import { getBlock } from '../nodes/actions.ts';
import { type Rpc, RpcUnavailable } from '../nodes/rpc.ts';
import type { FollowedChain } from './chain.ts';
import { resumeChain } from './cursor.ts';

let database: TestDatabase;
let world: WatchedChain;
before(async () => {
  database = await testDatabase();
});
after(() => database.close());
afterEach(() => world.close());

async function start(nodes: number, quorum: number, changes: Partial<FollowedChain> = {}): Promise<void> {
  const finality = { tag: 'finalized', depth: 0, quorum } as const;
  world = await watchedChain(database, { nodes, changes: { finality, ...changes } });
}

function proxy(index: number): LyingRpc {
  const found = world.proxies[index];
  assert.ok(found !== undefined);
  return found;
}

async function requestsSeenBy(index: number, work: () => Promise<unknown>): Promise<number> {
  proxy(index).seen.clear();
  await work();
  return [...proxy(index).seen.values()].reduce((sum, count) => sum + count, 0);
}

test('a block is final only when two nodes report it as final', async () => {
  await start(2, 2);
  const own = world.watcher();
  await world.emit(1);
  await world.anvil.mine(10);
  proxy(1).faults.tooManyRequests = true;
  assert.equal(await own.catchUp(), 'idle');
  assert.deepEqual([world.story, (await world.cursor()).finalNumber], [['block 1: 1'], 0n]);
  proxy(1).faults.tooManyRequests = false;
  proxy(1).lie = (_method, params, result) =>
    params[0] === 'finalized' ? { ...(result as object), number: '0x0' } : result;
  await own.catchUp();
  assert.equal((await world.cursor()).finalNumber, 0n, 'the other node does not call it final yet');
  proxy(1).lie = undefined;
  await own.catchUp();
  assert.deepEqual(world.story, ['block 1: 1', 'final 6: 1']);
});

test('forged blocks of the preferred node never become final, and the chain of the other nodes replaces them', async () => {
  await start(3, 2);
  const own = world.watcher();
  await world.anvil.mine(8);
  await own.catchUp();
  proxy(0).lie = inventedFrom(10n);
  await world.emit(1);
  await world.anvil.mine(3);
  await own.catchUp();
  await world.anvil.mine(20);
  // One round finds the contradiction; the next ones read the other nodes' chain.
  for (let round = 0; round < 4; round += 1) await own.catchUp();
  const head = await getBlock(world.watcher().watcher.rpc, 'latest');
  const cursor = await world.cursor();
  assert.deepEqual(
    [cursor.headNumber, cursor.finalNumber, cursor.haltedReason],
    [31n, 27n, ''],
    JSON.stringify(world.story),
  );
  const honest = (await world.anvil.request('eth_getBlockByNumber', ['latest', false])) as { hash: string };
  assert.deepEqual([cursor.headHash, head?.hash], [honest.hash, honest.hash]);
  assert.equal(await requestsSeenBy(0, () => own.catchUp()), 0, 'the liar is in quarantine');
});

test('a node with another block at a final height than the majority is quarantined', async () => {
  await start(3, 2);
  const own = world.watcher();
  await world.anvil.mine(10);
  await own.catchUp();
  proxy(2).lie = inventedFrom(5n);
  await world.anvil.mine(10);
  await own.catchUp();
  assert.deepEqual([(await world.cursor()).finalNumber, (await world.cursor()).haltedReason], [16n, '']);
  assert.equal(await requestsSeenBy(2, () => world.anvil.mine().then(() => own.catchUp())), 0);
});

test('while two nodes contradict each other no block becomes final, and the chain is not halted', async () => {
  await start(2, 2);
  const own = world.watcher();
  await world.anvil.mine(10);
  await own.catchUp();
  proxy(1).lie = inventedFrom(8n);
  await world.anvil.mine(10);
  await own.catchUp();
  assert.deepEqual([(await world.cursor()).finalNumber, (await world.cursor()).haltedReason], [6n, '']);
  assert.equal((await world.cursor()).headNumber, 20n);
});

test('a majority against our final block halts the chain, and resuming adopts the chain of the majority', async () => {
  await start(3, 2);
  const own = world.watcher();
  await world.emit(1);
  await world.anvil.mine(10);
  await own.catchUp();
  await world.anvil.request('anvil_reorg', [10, []]);
  await world.anvil.mine();
  assert.equal(await own.catchUp(), 'halted');
  await resumeChain(database.db, systemClock, world.chain.chainId);
  assert.equal(await own.catchUp(), 'idle');
  assert.deepEqual(world.story.slice(2), ['dropped: 1']);
});

test('without proofs, a block and its logs count when a quorum gives the same answer', async () => {
  await start(2, 2, { proofs: 'quorum' });
  const own = world.watcher();
  // Headers of both nodes do not hash to their hash, as on a chain with its own hashing.
  const strange = (_method: string, _params: readonly unknown[], result: unknown) =>
    typeof result === 'object' && result !== null && 'mixHash' in result
      ? { ...result, mixHash: `0x${'01'.repeat(32)}` }
      : result;
  proxy(0).lie = strange;
  proxy(1).lie = (method, params, result) =>
    method === 'eth_getLogs' ? [] : strange(method, params, result);
  await world.emit(1);
  await world.anvil.mine();
  await assert.rejects(own.round(), RpcUnavailable, 'the other node does not tell of the log');
  assert.deepEqual(world.story, []);
  proxy(1).lie = strange;
  await own.catchUp();
  assert.deepEqual(world.story, ['block 1: 1']);
  proxy(1).lie = (method, params, result) =>
    typeof result === 'object' && result !== null && 'logsBloom' in result
      ? { ...result, logsBloom: `0x${'00'.repeat(256)}` }
      : strange(method, params, result);
  await world.emit(2);
  await world.anvil.mine();
  await assert.rejects(own.round(), RpcUnavailable, 'a bloom that hides a log is not alike');
});

test('a node that lags is asked after one that does not', async () => {
  await start(2, 1);
  const { rpc }: { rpc: Rpc } = world.watcher().watcher;
  await world.anvil.mine(30);
  const stale = await world.anvil.request('eth_getBlockByNumber', ['0x1', false]);
  proxy(0).lie = (_method, params, result) => (params[0] === 'latest' ? stale : result);
  await rpc.askEach?.([{ method: 'eth_getBlockByNumber', params: ['latest', false] }]);
  assert.equal((await getBlock(rpc, 'latest'))?.number, 30n);
});
