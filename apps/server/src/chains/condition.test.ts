import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import { silentLog } from '#telemetry/log.ts';
import { followedChain, openConditionWorld } from '../../test/harness/condition-fixture.ts';
import type { VaultChain } from '../../test/harness/vault-rpc.ts';
import { type ConditionKeeper, conditionKeeper, expectedSecondsToFinal } from './condition.ts';

const { database, clock, ethereum, base, unverified, verification, begin, stand } =
  await openConditionWorld();
after(() => database.close());

const signal = new AbortController().signal;
let node: VaultChain;
let keeper: ConditionKeeper;
beforeEach(async () => {
  ({ node, keeper } = await begin());
});

// proves W1.14
test("before it is measured, the time to finality is the configured one, or else the chain's known one", () => {
  const unknown = followedChain('local', 31_337, { finality: { tag: 'finalized', depth: 6, quorum: 1 } });
  const configured = followedChain('ethereum', 1, {
    finality: { tag: 'finalized', depth: 0, quorum: 1, expectedSeconds: 700 },
  });
  assert.deepEqual(
    [ethereum, base, unknown, configured].map((each) => expectedSecondsToFinal(each)),
    [902, 1502, 8, 700],
  );
});

// proves W1.14
test('a chain that no process follows yet is delayed, and has its usual expected times', async () => {
  await keeper.refresh(signal);
  assert.deepEqual(keeper.conditions.of(1), {
    status: 'delayed',
    reason: 'chain_not_followed',
    secondsToFinal: 902,
  });
});

// proves W1.14
test('the time to finality is the worst of the last polls, plus one block and one poll', async () => {
  const measured = [];
  for (const lag of [960, 1_150, 780]) {
    await stand(ethereum, { blocks: 80, lag });
    await keeper.refresh(signal);
    measured.push(keeper.conditions.of(1));
  }
  const status = { status: 'available', reason: '' } as const;
  assert.deepEqual(measured, [
    { ...status, secondsToFinal: 960 + 12 + 1 },
    { ...status, secondsToFinal: Math.ceil(1_150 + 1_150 / 80 + 1) },
    { ...status, secondsToFinal: Math.ceil(1_150 + 780 / 80 + 1) },
  ]);
  for (let look = 0; look < 300; look += 1) await keeper.refresh(signal);
  assert.equal(keeper.conditions.of(1).secondsToFinal, Math.ceil(780 + 780 / 80 + 1));
});

test('a leap of a chain’s time, as after an outage, lengthens the expected time only until it is final', async () => {
  await stand(ethereum, { blocks: 6, lag: 6 });
  for (let look = 0; look < 100; look += 1) await keeper.refresh(signal);
  const before = keeper.conditions.of(1);
  await stand(ethereum, { blocks: 6, lag: 2_406 });
  for (let look = 0; look < 2; look += 1) await keeper.refresh(signal);
  await stand(ethereum, { blocks: 6, lag: 6 });
  await keeper.refresh(signal);
  assert.deepEqual(keeper.conditions.of(1), before);
});

// proves W1.15
test('a chain without new blocks or new final blocks is delayed; a halted one is unavailable', async () => {
  const seen = [];
  for (const state of [
    { age: 100, blocks: 64, lag: 768 },
    { age: 181, blocks: 64, lag: 768 },
    { blocks: 180, lag: 2_105 },
    { blocks: 64, lag: 768 },
    { blocks: 64, lag: 768, halted: 'reorg below the final block 936' },
  ]) {
    await stand(ethereum, state);
    await keeper.refresh(signal);
    const { status, reason } = keeper.conditions.of(1);
    seen.push([status, reason]);
  }
  assert.deepEqual(seen, [
    ['available', ''],
    ['delayed', 'chain_lagging'],
    ['delayed', 'chain_lagging'],
    ['available', ''],
    ['unavailable', 'chain_halted'],
  ]);
});

test('while a chain stands still, the expected time is at least the age of its newest block', async () => {
  const seen = [];
  for (const age of [3, 12, 47, 137]) {
    await stand(base, { age, blocks: 3, lag: 6 });
    await keeper.refresh(signal);
    seen.push(keeper.conditions.of(8453));
  }
  assert.deepEqual(seen, [
    { status: 'available', reason: '', secondsToFinal: 9 },
    { status: 'available', reason: '', secondsToFinal: 19 },
    { status: 'available', reason: '', secondsToFinal: 59 },
    { status: 'delayed', reason: 'chain_lagging', secondsToFinal: 149 },
  ]);
});

test('finality that is much slower than usual is shown at once, whatever was measured before', async () => {
  const local = followedChain('local', 31_337);
  const options = { verification, rpcOf: () => node.rpc, db: database.db, clock, log: silentLog };
  const own = conditionKeeper({ ...options, chains: [local] });
  const seen = [];
  for (const lag of [6, 300, 6, 112, 50, 6]) {
    await stand(local, { blocks: lag, lag });
    await own.refresh(signal);
    seen.push(own.conditions.of(31_337).reason);
  }
  assert.deepEqual(seen, ['', 'chain_lagging', '', 'chain_lagging', '', '']);
});

test('a poll that finds nothing new changes no answer', async () => {
  await stand(ethereum, { blocks: 64, lag: 768 });
  await keeper.refresh(signal);
  const version = keeper.conditions.version();
  await keeper.refresh(signal);
  assert.equal(keeper.conditions.version(), version);
  await stand(ethereum, { blocks: 64, lag: 900 });
  await keeper.refresh(signal);
  assert.equal(keeper.conditions.version(), version + 1);
});

test('an unavailable database is a warning, and cached conditions stay', async () => {
  await stand(ethereum, { blocks: 64, lag: 768 });
  const warnings: string[] = [];
  let isAway = false;
  const own = conditionKeeper({
    chains: [ethereum],
    verification,
    rpcOf: () => node.rpc,
    db: {
      query: (...asking) => (isAway ? Promise.reject(new Error('away')) : database.db.query(...asking)),
    },
    clock,
    log: { ...silentLog, warn: (event) => void warnings.push(event) },
  });
  await own.refresh(signal);
  const known = own.conditions.of(1);
  isAway = true;
  await own.refresh(signal);
  assert.deepEqual([own.conditions.of(1), warnings.at(-1)], [known, 'chain.condition_unknown']);
});

test('a chain that this process has not verified is unavailable, however well it is followed', async () => {
  await stand(ethereum, { blocks: 64, lag: 768 });
  unverified.add(1);
  await keeper.refresh(signal);
  const version = keeper.conditions.version();
  const { status, reason } = keeper.conditions.of(1);
  assert.deepEqual([status, reason], ['unavailable', 'chain_unverified']);

  unverified.clear();
  await keeper.refresh(signal);
  assert.equal(keeper.conditions.of(1).status, 'available');
  assert.equal(keeper.conditions.version(), version + 1);
});

// proves W1.15
test('a chain is unavailable once no node has answered for 20 seconds, and available again with the next answer', async () => {
  const own = conditionKeeper({
    chains: [ethereum],
    verification,
    rpcOf: () => node.rpc,
    db: database.db,
    clock,
    log: silentLog,
  });
  const seen = async (afterMs: number) => {
    clock.time += afterMs;
    await stand(ethereum, { blocks: 64, lag: 768 });
    await own.refresh(signal);
    const { status, reason } = own.conditions.of(1);
    return [status, reason];
  };
  assert.deepEqual(await seen(0), ['available', '']);
  node.isAway = true;
  assert.deepEqual(await seen(19_999), ['available', '']);
  const version = own.conditions.version();
  assert.deepEqual(await seen(1), ['unavailable', 'chain_unreachable']);
  assert.deepEqual(await seen(3_600_000), ['unavailable', 'chain_unreachable']);
  assert.equal(own.conditions.version(), version + 1);
  node.isAway = false;
  assert.deepEqual(await seen(0), ['available', '']);
  assert.equal(own.conditions.version(), version + 2);

  // The time before the verification does not count.
  unverified.add(1);
  node.isAway = true;
  assert.deepEqual(await seen(60_000), ['unavailable', 'chain_unverified']);
  unverified.clear();
  assert.deepEqual(await seen(19_999), ['available', '']);
  assert.deepEqual(await seen(1), ['unavailable', 'chain_unreachable']);
});
