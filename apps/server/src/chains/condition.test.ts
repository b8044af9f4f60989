import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { statement } from '@florin/pg';
import type { Hex } from '@florin/protocol/order.ts';
import { routeFrom, routesTo } from '#orders/quote.ts';
import { silentLog } from '#telemetry/log.ts';
import { type TestDatabase, testDatabase } from '../../test/harness/database.ts';
import { type VaultChain, vaultChain } from '../../test/harness/vault-rpc.ts';
import { type Chain, type Chains, chainsOf } from './chain.ts';
import { type ConditionKeeper, conditionKeeper, expectedSecondsToFinal } from './condition.ts';
import { resumeToken, stopToken } from './token-stop.ts';

const setCursor = statement({
  name: 'condition_test_cursor',
  parameters: {
    chainId: 'int8',
    headNumber: 'int8',
    headTime: 'timestamptz',
    finalNumber: 'int8',
    finalTime: 'timestamptz',
    haltedReason: 'text',
  },
  columns: {},
  text: `insert into chain_cursors
     (chain_id, head_number, head_hash, head_time, final_number, final_hash, final_time, halted_reason, updated_at)
   values (:chainId, :headNumber, '0x01', :headTime, :finalNumber, '0x02', :finalTime, :haltedReason, :headTime)
   on conflict (chain_id) do update set head_number = excluded.head_number, head_time = excluded.head_time,
     final_number = excluded.final_number, final_time = excluded.final_time, halted_reason = excluded.halted_reason`,
});
const forgetCursors = statement({
  name: 'condition_test_forget',
  parameters: {},
  columns: {},
  text: 'delete from chain_cursors',
});

function chain(name: string, chainId: number, change: Partial<Chain> = {}): Chain {
  const address = (digit: string) => `0x${digit.repeat(40)}` as Hex;
  const token = (symbol: string, decimals: number, digit: string) => ({
    tokenId: `${name}::${symbol}`,
    chainName: name,
    chainId,
    address: address(digit),
    name: symbol,
    symbol,
    decimals,
  });
  return {
    name,
    chainId,
    rpcUrls: [],
    gateway: address('a'),
    vault: address('b'),
    startBlock: 0n,
    finality: { tag: 'finalized', depth: 0 },
    pollIntervalMs: 1_000,
    tokens: [token('usdc', 6, '1'), token('dai', 18, '2')],
    ...change,
  };
}

const ethereum = chain('ethereum', 1);
const base = chain('base', 8453);
const rates = { sameToken: 2000, sameChain: 3000, crossChain: 6000 };
const signal = new AbortController().signal;
const clock = {
  time: Date.UTC(2030, 0, 1),
  now: () => new Date(clock.time),
  monotonicMs: () => clock.time,
  sleep: async () => {},
};

const unverified = new Set<number>();
const verification = {
  problemOf: (chainId: number) => (unverified.has(chainId) ? ('unreachable' as const) : undefined),
};

let node: VaultChain;
let database: TestDatabase;
let keeper: ConditionKeeper;
let chains: Chains;
before(async () => {
  database = await testDatabase();
});
after(() => database.close());
beforeEach(async () => {
  node = vaultChain();
  await database.db.query(forgetCursors);
  unverified.clear();
  const options = { verification, rpcOf: () => node.rpc, db: database.db, clock, log: silentLog };
  keeper = conditionKeeper({ ...options, chains: [ethereum, base] });
  chains = { ...chainsOf([ethereum, base]), conditions: keeper.conditions };
});

/**
 * Puts the head of a chain some seconds behind our clock, and its final block some blocks and seconds behind the
 * head.
 */
async function stand(
  { chainId }: Chain,
  {
    age = 0,
    blocks = 0,
    lag = 0,
    halted = '',
  }: { age?: number; blocks?: number; lag?: number; halted?: string },
): Promise<void> {
  const headTime = new Date(clock.time - age * 1_000);
  const finalTime = new Date(headTime.getTime() - lag * 1_000);
  await database.db.query(setCursor, {
    chainId,
    headNumber: 1_000n,
    headTime,
    finalNumber: BigInt(1_000 - blocks),
    finalTime,
    haltedReason: halted,
  });
}

// proves W1.14
test("before it is measured, the time to finality is the configured one, or else the chain's known one", () => {
  const unknown = chain('local', 31_337, { finality: { tag: 'finalized', depth: 6 } });
  const configured = chain('ethereum', 1, { finality: { tag: 'finalized', depth: 0, expectedSeconds: 700 } });
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
  const local = chain('local', 31_337);
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

test('a route has the state of the worse of its chains', async () => {
  await stand(ethereum, { blocks: 64, lag: 768, halted: 'reorg' });
  await stand(base, { age: 600, blocks: 10, lag: 20 });
  await keeper.refresh(signal);
  const statusOf = (paymentTokenId: string, settlementTokenId: string) =>
    routeFrom(chains, rates, { paymentTokenId, settlementTokenId })?.condition;
  const halted = { status: 'unavailable', reason: 'chain_halted' };
  assert.deepEqual(
    [
      statusOf('base::usdc', 'base::usdc'),
      statusOf('base::usdc', 'ethereum::usdc'),
      statusOf('ethereum::usdc', 'base::usdc'),
    ],
    [{ status: 'delayed', reason: 'chain_lagging' }, halted, halted],
  );
});

// proves W1.16
test('a vault bounds only its own routes; a payout that it cannot make is not offered', async () => {
  const [usdc, dai] = base.tokens.map(({ address }) => address);
  node.caps.set(usdc ?? '0x', { perOrder: 5_000_000n, hourly: 4_000_000n, daily: 9_000_000n });
  node.caps.set(dai ?? '0x', { perOrder: 0n, hourly: 10n ** 24n, daily: 10n ** 24n });
  const routesOf = (tokenId: string) =>
    routesTo(chains, rates, tokenId).map((route) => [route.paymentToken.tokenId, route.maxPaymentValue]);
  const bound = [
    ['base::usdc', 10_000_000_000_000n],
    ['base::dai', 4_000_000n],
    ['ethereum::usdc', 4_000_000n],
    ['ethereum::dai', 4_000_000n],
  ];
  // Before the first check the cap of a vault is unknown.
  assert.deepEqual(routesOf('base::usdc'), bound.slice(0, 1));
  await keeper.refresh(signal);
  assert.deepEqual(routesOf('base::usdc'), bound);
  assert.deepEqual(routesOf('base::dai'), [['base::dai', 10_000_000_000_000n]]);
});

test('caps are read once a minute, sooner after a failure, and stay cached while no node answers', async () => {
  const [usdc] = base.tokens.map(({ address }) => address);
  node.caps.set(usdc ?? '0x', { perOrder: 5_000_000n, hourly: 10n ** 20n, daily: 10n ** 20n });
  node.isAway = true;
  node.asked = 0;
  await keeper.refresh(signal);
  node.isAway = false;
  await keeper.refresh(signal);
  const afterFailure = node.asked;
  assert.equal(keeper.conditions.payoutCap('base::usdc'), 5_000_000n);
  node.caps.set(usdc ?? '0x', { perOrder: 6_000_000n, hourly: 10n ** 20n, daily: 10n ** 20n });
  clock.time += 59_000;
  await keeper.refresh(signal);
  assert.deepEqual([node.asked, keeper.conditions.payoutCap('base::usdc')], [afterFailure, 5_000_000n]);
  clock.time += 1_000;
  await keeper.refresh(signal);
  assert.equal(keeper.conditions.payoutCap('base::usdc'), 6_000_000n);
  node.isAway = true;
  clock.time += 60_000;
  await keeper.refresh(signal);
  assert.equal(keeper.conditions.payoutCap('base::usdc'), 6_000_000n);
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

test('a token that the operator stops closes its routes at the next check, and opens them when it is resumed', async () => {
  await stand(ethereum, {});
  await stand(base, {});
  const stop = (tokenId: string) =>
    database.db.transaction((transaction) =>
      stopToken(transaction, { clock, chains }, { token: tokenId, reason: 'depeg' }),
    );
  const states = () => {
    const ends = { paymentTokenId: 'base::usdc', settlementTokenId: 'base::usdc' };
    const { status, reason } = routeFrom(chains, rates, ends)?.condition ?? {};
    return [status, reason];
  };
  await keeper.refresh(signal);
  const version = keeper.conditions.version();
  assert.deepEqual(states(), ['available', '']);
  assert.deepEqual(await stop('base::usdc'), ['base::usdc']);
  await keeper.refresh(signal);
  assert.deepEqual(states(), ['unavailable', 'token_stopped']);
  assert.notEqual(keeper.conditions.version(), version);
  await database.db.transaction((transaction) => resumeToken(transaction, 'usdc'));
  await keeper.refresh(signal);
  assert.deepEqual(states(), ['available', '']);
});

test('a token that its issuer pauses closes its routes within a minute, and opens them by itself', async () => {
  await stand(ethereum, {});
  await stand(base, {});
  const [usdc = '0x', dai = '0x'] = base.tokens.map(({ address }) => address);
  const answer = (digit: string): Hex => `0x${digit.padStart(64, '0')}`;
  const reasons = () =>
    [
      ['base::usdc', 'base::usdc'],
      ['ethereum::usdc', 'base::usdc'],
      ['base::dai', 'ethereum::dai'],
    ].map(([paymentTokenId = '', settlementTokenId = '']) => {
      const { status, reason } =
        routeFrom(chains, rates, { paymentTokenId, settlementTokenId })?.condition ?? {};
      return `${status} ${reason}`;
    });
  const lookAfterAMinute = async () => {
    clock.time += 60_000;
    await stand(ethereum, {});
    await stand(base, {});
    await keeper.refresh(signal);
  };
  const open = 'available ';
  // The chains' nodes are one here, and so are the addresses of their tokens.
  node.pauses.set(usdc, answer('0'));
  await keeper.refresh(signal);
  const version = keeper.conditions.version();
  assert.deepEqual(reasons(), [open, open, open]);

  node.pauses.set(usdc, answer('1'));
  // No bool: not known.
  node.pauses.set(dai, answer('2'));
  await lookAfterAMinute();
  const paused = 'unavailable token_paused';
  assert.deepEqual(reasons(), [paused, paused, open]);
  assert.notEqual(keeper.conditions.version(), version);

  // No answer changes nothing.
  node.isAway = true;
  await lookAfterAMinute();
  assert.equal(keeper.conditions.isPaused?.('base::usdc'), true);

  node.isAway = false;
  node.pauses.set(usdc, answer('0'));
  await lookAfterAMinute();
  assert.deepEqual(reasons(), [open, open, open]);
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
