import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { toHex } from 'viem';
import { type Anvil, startTestAnvil } from '../../test/anvil.ts';
import { silentLog, systemClock } from '../../test/context.ts';
import { type LyingRpc, startLyingRpc } from '../../test/lying-rpc.ts';
import type { Clock } from '../context.ts';
import { getBlock, getCode } from './actions.ts';
import { type HttpRpc, openHttpRpc } from './http-rpc.ts';
import { freshHealth, type NodeHealth, noteAnswer, noteFailure, penaltyOf } from './node-health.ts';
import { RpcError, RpcUnavailable } from './rpc.ts';
import { askTwoNodes } from './witness.ts';

let anvil: Anvil;
let first: LyingRpc;
let second: LyingRpc;
const opened: HttpRpc[] = [];

before(async () => {
  anvil = await startTestAnvil();
  first = await startLyingRpc(anvil.url);
  second = await startLyingRpc(anvil.url);
});
afterEach(async () => {
  for (const faults of [first.faults, second.faults]) {
    for (const name of Object.keys(faults) as (keyof typeof faults)[]) faults[name] = false;
  }
  for (const node of [first, second]) node.lie = undefined;
  first.seen.clear();
  second.seen.clear();
  await Promise.all(opened.splice(0).map((rpc) => rpc.close()));
});
after(async () => {
  await Promise.all([first.close(), second.close()]);
  await anvil.close();
});

/** Time stops, except for the limit of an exchange. A slow machine then changes no order of nodes. */
const still: Clock = { ...systemClock, monotonicMs: () => 0 };

function open(urls: readonly string[], timeLimitMs = 60_000): HttpRpc {
  const rpc = openHttpRpc({ chainId: anvil.chainId, urls, clock: still, log: silentLog, timeLimitMs });
  opened.push(rpc);
  return rpc;
}

test('requests go only to the preferred node, whose chain id is asked once before', async () => {
  const rpc = open([first.url, second.url]);
  assert.equal((await getBlock(rpc, 'latest'))?.number, 0n);
  assert.equal((await getBlock(rpc, 0n))?.number, 0n);
  assert.deepEqual(Object.fromEntries(first.seen), { eth_chainId: 1, eth_getBlockByNumber: 2 });
  assert.deepEqual(Object.fromEntries(second.seen), {});
});

for (const fault of ['hang', 'tooManyRequests', 'halfJson', 'hugeBody'] as const) {
  test(`a node with ${fault} uses bounded time and memory, and the next node answers`, async () => {
    const rpc = open([first.url, second.url], fault === 'hang' ? 2_000 : 60_000);
    await getBlock(rpc, 'latest');
    first.faults[fault] = true;
    // Without a limit the request would wait for ever.
    assert.equal((await getBlock(rpc, 'latest'))?.number, 0n);
    assert.ok(first.hugeBytes() < 30_000_000, `${first.hugeBytes()} bytes were sent`);
    first.seen.clear();
    await getBlock(rpc, 'latest');
    assert.equal(first.seen.size, 0, 'the failed node is left alone for a while');
  });
}

test('a node of another chain is never trusted, neither at the start nor after an outage', async () => {
  const rpc = open([first.url, second.url]);
  first.faults.wrongChainId = true;
  assert.deepEqual(await rpc.verifyChainId(), [
    { node: new URL(first.url).host, state: 'wrong_chain' },
    { node: new URL(second.url).host, state: 'verified' },
  ]);
  await getBlock(rpc, 'latest');
  assert.deepEqual(Object.fromEntries(first.seen), { eth_chainId: 1 });
});

test('a node that answered for another chain is asked for its chain id with growing delays, and is used once it is right', async () => {
  let nowMs = 0;
  const clock = { ...systemClock, monotonicMs: () => nowMs };
  const rpc = openHttpRpc({ chainId: anvil.chainId, urls: [first.url], clock, log: silentLog });
  opened.push(rpc);
  first.faults.wrongChainId = true;
  for (const pauseMs of [2_000, 4_000, 8_000]) {
    await assert.rejects(getBlock(rpc, 'latest'), RpcUnavailable);
    nowMs += pauseMs - 1;
    const asked = first.seen.get('eth_chainId');
    await assert.rejects(getBlock(rpc, 'latest'), RpcUnavailable);
    assert.equal(first.seen.get('eth_chainId'), asked, 'not asked before its time');
    nowMs += 1;
  }
  assert.deepEqual(Object.fromEntries(first.seen), { eth_chainId: 3 });
  first.faults.wrongChainId = false;
  assert.equal((await getBlock(rpc, 'latest'))?.number, 0n);
});

test('a node is asked for its chain id again after a failure', async () => {
  const rpc = open([first.url]);
  await getBlock(rpc, 'latest');
  first.faults.tooManyRequests = true;
  await assert.rejects(getBlock(rpc, 'latest'), RpcUnavailable);
  first.faults.tooManyRequests = false;
  first.faults.wrongChainId = true;
  await assert.rejects(getBlock(rpc, 'latest'), RpcUnavailable);
  assert.equal(first.seen.get('eth_chainId'), 2);
});

test('the only node is used at once when it recovers', async () => {
  const rpc = open([first.url]);
  first.faults.tooManyRequests = true;
  for (let attempt = 0; attempt < 4; attempt += 1)
    await assert.rejects(getBlock(rpc, 'latest'), RpcUnavailable);
  first.faults.tooManyRequests = false;
  assert.equal((await getBlock(rpc, 'latest'))?.number, 0n);
});

test('a refusal of the node is returned as its error, and no other node is asked', async () => {
  const rpc = open([first.url, second.url]);
  await assert.rejects(
    rpc.request('eth_nonsense', []),
    (error) => error instanceof RpcError && error.code === -32601,
  );
  assert.equal(second.seen.size, 0);
});

test('a batch keeps its order, and an error of one call does not fail the others', async () => {
  const rpc = open([first.url]);
  const outcomes = await rpc.batch([
    { method: 'eth_chainId', params: [] },
    { method: 'eth_nonsense', params: [] },
    { method: 'eth_blockNumber', params: [] },
  ]);
  assert.deepEqual(
    outcomes.map((outcome) => ('result' in outcome ? outcome.result : outcome.error.code)),
    ['0x7a69', -32601, '0x0'],
  );
});

test('a demoted node is asked after the others', async () => {
  const rpc = open([first.url, second.url]);
  await getBlock(rpc, 'latest');
  rpc.demote?.('behind');
  first.seen.clear();
  await getBlock(rpc, 'latest');
  assert.deepEqual([first.seen.size, second.seen.get('eth_getBlockByNumber')], [0, 1]);
});

test('a request ends when its signal aborts', async () => {
  const rpc = open([first.url], 3_600_000);
  first.faults.hang = true;
  await assert.rejects(rpc.request('eth_chainId', [], { signal: AbortSignal.timeout(100) }), RpcUnavailable);
});

test('a host that refuses connections is unavailable', async () => {
  const rpc = open(['http://127.0.0.1:9']);
  await assert.rejects(getCode(rpc, '0x0000000000000000000000000000000000000001'), RpcUnavailable);
});

test('an answer nested deeper than any valid one is refused before it is parsed', async () => {
  const rpc = open([first.url]);
  await getBlock(rpc, 'latest');
  const nested = (levels: number): unknown => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`);
  // Brackets within a text open nothing.
  const padding = `"[{\\${'['.repeat(200_000)}`;
  first.lie = () => [padding, nested(20)];
  const answer = JSON.stringify(await rpc.request('eth_blockNumber', []));
  assert.ok(answer === JSON.stringify([padding, nested(20)]));
  first.lie = () => [padding, nested(40)];
  await assert.rejects(rpc.request('eth_blockNumber', []), RpcUnavailable);
});

test('a poll asks every host once, and omits the hosts that do not answer', async () => {
  const rpc = open([first.url, second.url, first.url]);
  const ask = async () =>
    (await rpc.askEach([{ method: 'eth_chainId', params: [] }])).map(({ node }) => node);
  const hosts = [first.url, second.url].map((url) => new URL(url).host);
  assert.deepEqual((await ask()).toSorted(), hosts.toSorted());
  second.faults.tooManyRequests = true;
  assert.deepEqual(await ask(), hosts.slice(0, 1));
});

test('a quarantined node is not asked, and the others answer', async () => {
  const rpc = open([first.url, second.url]);
  rpc.quarantine(new URL(first.url).host, 'another fork');
  assert.equal((await getBlock(rpc, 'latest'))?.number, 0n);
  assert.equal((await rpc.askEach([{ method: 'eth_chainId', params: [] }])).length, 1);
  assert.equal(first.seen.size, 0);
});

test('every configured node is told of: its answer, or why it gives none', async () => {
  const rpc = open([first.url, second.url, first.url]);
  const [one, other] = [new URL(first.url).host, new URL(second.url).host];
  const inspect = () => rpc.inspect({ method: 'eth_chainId', params: [] });
  const result = toHex(anvil.chainId);
  const well = [
    { node: one, result, problem: '' },
    { node: other, result, problem: '' },
    { node: `${one} (3)`, result, problem: '' },
  ];
  assert.deepEqual(await inspect(), well);
  const secondHas = async (problem: string) =>
    assert.deepEqual(await inspect(), [well[0], { node: other, result: undefined, problem }, well[2]]);
  second.faults.tooManyRequests = true;
  await secondHas('HTTP status 429');
  second.faults.tooManyRequests = false;
  second.faults.wrongChainId = true;
  await secondHas('answers for another chain');
  second.faults.wrongChainId = false;
  // Its id is asked again after a while.
  await secondHas('answers for another chain');
});

test('a node in quarantine is told of without a request', async () => {
  const rpc = open([first.url]);
  const node = new URL(first.url).host;
  rpc.quarantine(node, 'another fork');
  const problem = 'paused for some minutes: it was on another fork';
  assert.deepEqual(await rpc.inspect({ method: 'eth_chainId', params: [] }), [
    { node, result: undefined, problem },
  ]);
  assert.equal(first.seen.size, 0);
});

test('two different answers to the same question count as no answer, and an answer of one node alone counts', async () => {
  const rpc = open([first.url, second.url]);
  const call = { method: 'eth_getCode', params: [`0x${'11'.repeat(20)}`, 'latest'] };
  assert.deepEqual(await askTwoNodes(rpc, call), { result: '0x' });
  first.lie = () => '0x6000';
  await assert.rejects(askTwoNodes(rpc, call), RpcUnavailable);
  second.faults.tooManyRequests = true;
  assert.deepEqual(await askTwoNodes(rpc, call), { result: '0x6000' });
});

test('a node that is slow or often fails is asked after the others, regardless of its place in the configuration', () => {
  const health = (changes: Partial<NodeHealth>): NodeHealth => ({ ...freshHealth(), ...changes });
  const order = (...nodes: readonly NodeHealth[]) =>
    nodes
      .map((node, place) => [place, penaltyOf(node, place, 100n)] as const)
      .toSorted(([, left], [, right]) => left - right)
      .map(([place]) => place);
  assert.deepEqual(order(health({ latencyMs: 300 }), health({ latencyMs: 20 })), [0, 1]);
  assert.deepEqual(order(health({ latencyMs: 3_000 }), health({ latencyMs: 20 })), [1, 0]);
  assert.deepEqual(order(health({ failureShare: 0.2 }), health({})), [1, 0]);
  assert.deepEqual(order(health({ head: 90n }), health({ head: 100n })), [1, 0]);
  const worn = health({});
  noteFailure(worn, 0);
  for (let answer = 0; answer < 20; answer += 1) noteAnswer(worn, 10);
  assert.ok(worn.failureShare < 0.01, 'old failures fade');
});
