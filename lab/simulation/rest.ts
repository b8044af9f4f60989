import { resumeChain } from '@florin/evm';
import { type Database, databaseOver, statement } from '@florin/pg';
import { releaseStopped, schema } from '@florin/server/operator';
import type pg from 'pg';
import { check, checkForked, checkGone, checkHalted, lastTransaction } from './checker.ts';
import type { Connections } from './connections.ts';
import { operatorAddress } from './places.ts';
import { findHeldUp, raiseCaps } from './policy-play.ts';
import { epochMs } from './process-model.ts';
import { isAnyOpen, openDeposits, unrestOf, unrestOfGone } from './unrest.ts';
import type { World } from './world.ts';

/** Virtual milliseconds that the service has after the faults to finish all work. */
const restLimitMs = 600_000;
const lookEveryMs = 2_000;
/** Longer than a session's payment deadline. */
const expiryJumpMs = 2_000_000;
/** Longer than payouts in progress take. */
const underWayMs = 60_000;
/** Longer than `underWayMs`, and until the service has retried most waiting payouts. */
const lowCapsMs = 200_000;
/** Longer than late payers wait, plus the time to collect their deposits. */
const latePayersMs = 240_000;
/** Longer than the service takes to see a transfer to a deposit address. */
const depositSeenMs = 25_000;
/** Longer than a short or late deposit may wait for a decision. */
const lateJumpMs = 4_000_000;

/** The database for an outside observer, without faults. */
export function observed(connections: Connections): Database {
  const ask = connections.observer.query.bind(connections.observer);
  const pool = {
    query: (query: pg.QueryConfig) => connections.observe(query),
    connect: async () => ({ query: ask, on() {}, off() {}, release() {} }),
  };
  return databaseOver(pool as unknown as pg.Pool, () => {}, schema.scope);
}

/** Waits until no work is left, then past every deadline, and waits again. Returns the violations. */
export async function comeToRest(world: World, connections: Connections): Promise<string[]> {
  const { observer: client } = connections;
  const { scheduler, story } = world.options;
  if (story.deepReorgMs !== undefined) {
    const stillness = await comeToHalt(world, client);
    if (stillness.length > 0) return stillness;
    const lost = await goOn(world, connections);
    if (lost !== undefined) return lost;
  }
  if (story.policy !== undefined) {
    const heldUp = await liveUnderPolicy(world, connections);
    if (heldUp.length > 0) return [...world.violations, ...heldUp];
  }
  const restless = async (what: string) => [...world.violations, ...(await checkForked(world, client)), what];
  const before = await unrestAfter(world, connections, () => unrestOf(world, connections, false));
  if (before !== '') return restless(`never came to rest: ${before}`);
  // If no session is left to expire, only some histories check that passing the deadline changes nothing.
  const isAnyLeft = (await isAnyOpen(connections)) || openDeposits(world).length > 0;
  const isOver = !isAnyLeft && !world.options.random.fork('jump').chance(story.size === 'long' ? 0.2 : 0.05);
  if (isOver) return check(world, client);
  scheduler.jump(expiryJumpMs);
  if (story.deposits !== undefined) {
    // Late payers send now, and acceptable deposits are accepted. The others go back after a later deadline.
    await waitForLatePayers(world, connections);
    scheduler.jump(lateJumpMs);
  }
  const after = await unrestAfter(world, connections, () => unrestOf(world, connections, true));
  if (after !== '') return restless(`never came to rest after the expiry: ${after}`);
  return check(world, client);
}

/** Waits until all payers have sent to deposit addresses, and the service has collected the deposits. */
async function waitForLatePayers(world: World, connections: Connections): Promise<void> {
  const { scheduler } = world.options;
  const limitMs = scheduler.nowMs + latePayersMs;
  await scheduler.run(() => scheduler.nowMs >= limitMs || world.deposits.every(({ isSent }) => isSent));
  await pass(world, depositSeenMs);
  while (scheduler.nowMs < limitMs && (await unrestOf(world, connections, false)) !== '')
    await pass(world, lookEveryMs);
}

async function pass({ options: { scheduler } }: World, ms: number): Promise<void> {
  const untilMs = scheduler.nowMs + ms;
  await scheduler.run(() => scheduler.nowMs >= untilMs);
}

/**
 * While caps are low, payouts that a vault cannot make must not delay those that it can make. Once the caps are
 * raised, all payouts must complete. Returns the violations.
 */
async function liveUnderPolicy(world: World, connections: Connections): Promise<string[]> {
  const { scheduler } = world.options;
  const limitMs = scheduler.nowMs + restLimitMs;
  const isOperating = () => world.models.some((model) => model.isWaiting(operatorAddress));
  while (isOperating() && scheduler.nowMs < limitMs) await pass(world, lookEveryMs);
  // Payouts tried after this time have met the current caps.
  const since = new Date(epochMs + scheduler.nowMs + underWayMs);
  const untilMs = scheduler.nowMs + lowCapsMs;
  // Without an open session and without other open work, no payout waits, and none will.
  const isIdle = async () =>
    !(await isAnyOpen(connections)) && (await unrestOf(world, connections, true)) === '';
  while (scheduler.nowMs < untilMs && !(await isIdle())) {
    await pass(world, lookEveryMs);
    await release(connections, 'agreed');
  }
  const heldUp = await findHeldUp(world, connections.observer, since);
  raiseCaps(world);
  return heldUp;
}

/** After a reorg below finality, exactly those chains that contradict a final block must halt. */
async function comeToHalt(world: World, client: pg.Client): Promise<string[]> {
  await pass(world, 90_000);
  return [...world.violations, ...(await checkHalted(world, client))];
}

/**
 * The operator resumes the chains. Returns undefined if everything that was final is final again: then all work must
 * finish. If a final event stays missing, the service only has to continue, and the operator decides about the event.
 * Returns the violations of that case.
 */
async function goOn(world: World, connections: Connections): Promise<string[] | undefined> {
  const { observer: client } = connections;
  const sentBefore = await lastTransaction(client);
  await resumeHalted(world, connections);
  const unrest = await unrestAfter(world, connections, async () => {
    if (await isAnyLost(connections)) return unrestOfGone(world, connections);
    // Books differ until the missing transactions are sent again, and a stopped chain sends nothing.
    await release(connections, 'all');
    return unrestOf(world, connections, false);
  });
  if (!(await isAnyLost(connections))) return undefined;
  const problems = await checkGone(world, client, sentBefore);
  return unrest === '' ? problems : [...problems, `never went on: ${unrest}`];
}

const haltedChains = statement({
  name: 'simulation_halted',
  parameters: {},
  columns: { chain_id: 'int8' },
  text: `select chain_id from chain_cursors where halted_reason <> ''`,
});

/** Does the same as the operator's command. */
async function resumeHalted(world: World, connections: Connections): Promise<void> {
  const db = observed(connections);
  const now = new Date(epochMs + world.options.scheduler.nowMs);
  const clock = { now: () => now, monotonicMs: () => 0, sleep: async () => {} };
  for (const { chain_id: chainId } of await db.query(haltedChains))
    await resumeChain(db, clock, Number(chainId));
  connections.memory.forget();
}

const lostEvent = statement({
  name: 'simulation_lost',
  parameters: {},
  columns: { chain_id: 'int8' },
  text: `select chain_id from dropped_events
   where returned_at is null and event_name not in ('Settled', 'PaidOut', 'Minted', 'Refunded') limit 1`,
});

/** Whether a final event was reverted and has not come back, except for events that the service itself sends again. */
async function isAnyLost(connections: Connections): Promise<boolean> {
  return (await observed(connections).query(lostEvent)).length > 0;
}

/** Waits for the work to finish within a reasonable time. Returns the open work. */
async function unrestAfter(
  world: World,
  connections: Connections,
  unrestNow: () => Promise<string>,
): Promise<string> {
  const { scheduler } = world.options;
  const limitMs = scheduler.nowMs + restLimitMs;
  let unrest = 'nothing looked at';
  while (unrest !== '' && scheduler.nowMs < limitMs) {
    await pass(world, lookEveryMs);
    await release(connections, 'agreed');
    unrest = await unrestNow();
  }
  return unrest;
}

const stopped = statement({
  name: 'simulation_stopped',
  parameters: { mostRuns: 'int4?' },
  columns: { chain_id: 'int8' },
  text: `select c.chain_id from chain_cursors c join chain_reconciliations r on r.chain_id = c.chain_id
   where c.stopped_reason = 'drift' and r.drift_runs <= coalesce(:mostRuns, r.drift_runs)`,
});

/**
 * The operator releases settlement on chains that a difference has stopped: only those whose books agree by now, or
 * also those whose missing transactions are yet to be sent again.
 */
async function release(connections: Connections, which: 'agreed' | 'all'): Promise<void> {
  const db = observed(connections);
  for (const { chain_id: chainId } of await db.query(stopped, { mostRuns: which === 'agreed' ? 0 : null })) {
    await releaseStopped(db, Number(chainId));
    connections.memory.forget();
  }
}
