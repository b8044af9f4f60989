import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { type Clock, systemClock } from '#outside/clock.ts';
import { silentLog } from '#telemetry/log.ts';
import { type Anvil, startTestAnvil } from '../../../test/harness/anvil.ts';
import { type LyingRpc, startLyingRpc } from '../../../test/harness/lying-rpc.ts';
import { calls, parseHeader } from './actions.ts';
import { type HttpRpc, openHttpRpc } from './http-rpc.ts';
import { socketUrlOf } from './node-socket.ts';
import { RpcUnavailable, resultOf } from './rpc.ts';

let anvil: Anvil;
let proxy: LyingRpc;
let nowMs = 0;
const opened: HttpRpc[] = [];
/** Stands still unless the test moves it: who is at rest, and who comes first, hangs on no machine's speed. */
const clock: Clock = { ...systemClock, monotonicMs: () => nowMs };

before(async () => {
  anvil = await startTestAnvil();
  proxy = await startLyingRpc(anvil.url);
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((rpc) => rpc.close()));
  for (const faults of [proxy.faults, proxy.socketFaults]) {
    for (const name of Object.keys(faults) as (keyof typeof faults)[]) faults[name] = false;
  }
  proxy.socketLie = undefined;
});
after(async () => {
  await proxy.close();
  await anvil.close();
});

function open(): HttpRpc {
  const { url, wsUrl } = proxy;
  const rpc = openHttpRpc({
    ...{ chainId: anvil.chainId, urls: [url], wsUrls: [wsUrl], clock, log: silentLog, timeLimitMs: 60_000 },
  });
  opened.push(rpc);
  return rpc;
}

const wanted = [calls.block('latest'), calls.block(0n)];
const blocksAsked = () => proxy.seenOnSockets.get('eth_getBlockByNumber') ?? 0;

/** Asks what is urgent, and checks the answer; whether it was asked over the WebSocket. */
async function askUrgently(rpc: HttpRpc): Promise<boolean> {
  const before = blocksAsked();
  const outcomes = await rpc.batch(wanted, { isUrgent: true });
  assert.deepEqual(
    outcomes.map((outcome) => parseHeader(resultOf(outcome))?.number),
    [0n, 0n],
  );
  return blocksAsked() > before;
}

/** Until the WebSocket is open and its node is known to be of the chain. */
async function untilAsked(rpc: HttpRpc): Promise<void> {
  while (!(await askUrgently(rpc))) await systemClock.sleep(20);
}

test('what is urgent is asked over the WebSocket, and all else over HTTP', async () => {
  const rpc = open();
  await untilAsked(rpc);
  assert.equal(await askUrgently(rpc), true);
  const before = blocksAsked();
  await rpc.batch(wanted);
  assert.equal(blocksAsked(), before);
});

test('while one question is open the next one goes over HTTP', async () => {
  const rpc = open();
  await untilAsked(rpc);
  const before = blocksAsked();
  await Promise.all([1, 2, 3].map(() => rpc.batch(wanted, { isUrgent: true })));
  assert.equal(blocksAsked(), before + wanted.length);
});

const faults = ['hang', 'cutOff', 'halfJson', 'hugeBody', 'otherIds', 'tooManyRequests'] as const;
for (const fault of faults) {
  test(`a WebSocket with ${fault} costs bounded time and memory, HTTP answers, and it is left alone until later`, async () => {
    const rpc = open();
    await untilAsked(rpc);
    const bytesBefore = proxy.hugeBytes();
    proxy.socketFaults[fault] = true;
    assert.equal(await askUrgently(rpc), true, 'asked in vain, and then over HTTP');
    assert.ok(proxy.hugeBytes() - bytesBefore < 30_000_000, `${proxy.hugeBytes()} bytes were sent`);
    proxy.socketFaults[fault] = false;
    assert.equal(await askUrgently(rpc), false);
    const failures = proxy.seen.get('eth_chainId');
    await rpc.batch(wanted);
    assert.equal(proxy.seen.get('eth_chainId'), failures, 'the node itself has not failed');
    nowMs += 5_000;
    await untilAsked(rpc);
  });
}

test('an answer that comes again is taken for no other, and its WebSocket is left alone', async () => {
  const rpc = open();
  await untilAsked(rpc);
  proxy.socketFaults.answerTwice = true;
  // Asked when the first answer is there, while the second one is on its way.
  const other = [calls.receipt(`0x${'11'.repeat(32)}`), { method: 'eth_chainId', params: [] }];
  while (await askUrgently(rpc)) {
    const outcomes = await rpc.batch(other, { isUrgent: true });
    assert.deepEqual(outcomes.map(resultOf), [null, `0x${anvil.chainId.toString(16)}`]);
  }
});

test('a WebSocket of another chain is asked for nothing else', async () => {
  proxy.socketFaults.wrongChainId = true;
  const before = proxy.seenOnSockets.get('eth_chainId') ?? 0;
  const rpc = open();
  while ((proxy.seenOnSockets.get('eth_chainId') ?? 0) === before) await systemClock.sleep(20);
  for (let count = 0; count < 5; count += 1) assert.equal(await askUrgently(rpc), false);
});

test('an HTTP address of another chain is not believed for what the WebSocket beside it answers', async () => {
  const before = proxy.seenOnSockets.get('eth_chainId') ?? 0;
  const rpc = open();
  proxy.faults.wrongChainId = true;
  await assert.rejects(rpc.batch(wanted));
  while ((proxy.seenOnSockets.get('eth_chainId') ?? 0) === before) await systemClock.sleep(20);
  // Past its quarantine, something urgent comes first.
  nowMs += 3_600_000;
  await assert.rejects(rpc.batch(wanted, { isUrgent: true }), RpcUnavailable);
  await assert.rejects(rpc.batch(wanted), RpcUnavailable);
});

test('when the node is found to be of no use, its WebSocket is not asked either', async () => {
  const rpc = open();
  await untilAsked(rpc);
  rpc.demote?.('receipts that come to another root');
  assert.equal(await askUrgently(rpc), false);
});

test('rests grow with faults that follow one another', async () => {
  const rpc = open();
  for (const restMs of [5_000, 10_000, 20_000]) {
    await untilAsked(rpc);
    proxy.socketFaults.cutOff = true;
    assert.equal(await askUrgently(rpc), true);
    proxy.socketFaults.cutOff = false;
    nowMs += restMs - 1;
    await systemClock.sleep(20);
    assert.equal(await askUrgently(rpc), false);
    nowMs += 1;
  }
});

test('a node whose HTTP fails as well is unavailable, and an open question ends with its signal and with the connection', async () => {
  const rpc = open();
  await untilAsked(rpc);
  proxy.faults.cutOff = true;
  await assert.rejects(rpc.batch(wanted, { isUrgent: true }), RpcUnavailable);
  proxy.faults.cutOff = false;
  for (const end of ['signal', 'close'] as const) {
    const other = open();
    await untilAsked(other);
    proxy.faults.hang = true;
    const before = blocksAsked();
    const stop = new AbortController();
    const options = { isUrgent: true, timeLimitMs: 3_600_000, signal: stop.signal };
    const asked = assert.rejects(other.batch(wanted, options), RpcUnavailable);
    while (blocksAsked() === before) await systemClock.sleep(5);
    if (end === 'signal') stop.abort();
    else await other.close();
    await asked;
    proxy.faults.hang = false;
  }
});

test('an address belongs to the node at the same host and port, or to the only one of its host name', () => {
  const local = 'http://127.0.0.1:8545';
  const hosted = 'https://one.example/key';
  assert.equal(
    socketUrlOf(hosted, [hosted, local], ['wss://one.example/ws/key']),
    'wss://one.example/ws/key',
  );
  assert.equal(socketUrlOf(local, [hosted, local], ['ws://127.0.0.1:8546']), 'ws://127.0.0.1:8546');
  assert.equal(socketUrlOf(hosted, [hosted], ['wss://two.example']), undefined);
  assert.equal(socketUrlOf(hosted, [hosted], ['ws://one.example/ws/key']), undefined, 'not in the clear');
  const two = [local, 'http://127.0.0.1:9545'];
  assert.equal(socketUrlOf(local, two, ['ws://127.0.0.1:8546']), undefined);
  assert.equal(socketUrlOf(local, two, ['ws://127.0.0.1:9545']), undefined);
  assert.equal(socketUrlOf(local, [local], ['ws://127.0.0.1:1', 'ws://127.0.0.1:2']), undefined);
});
