import { resumeChain } from '@florin/evm';
import { type Database, databaseOver, statement } from '@florin/pg';
import { releaseStopped, schema } from '@florin/server/operator';
import type pg from 'pg';
import { check, checkFinalEvents, checkHalted, checkLostEvents, lastTransactionId } from './checker.ts';
import { operatorAddress } from './configuration.ts';
import type { Connections } from './connections.ts';
import {
  hasOpenSession,
  openDeposits,
  openWorkAfterLoss,
  openWorkOf,
  waitingForLostPayments,
} from './open-work.ts';
import { findBlockedPayouts, raiseCaps } from './policy-changes.ts';
import { epochMs } from './process-model.ts';
import type { World } from './world.ts';

/** Virtual milliseconds that the service has after the faults to finish all work. */
const workLimitMs = 600_000;
const checkEveryMs = 2_000;
/** Longer than a session's payment deadline. */
const expiryJumpMs = 2_000_000;
/** Longer than payouts in progress take. */
const inProgressMs = 60_000;
/** Longer than `inProgressMs`, and until the service has retried most waiting payouts. */
const lowCapsMs = 200_000;
/** Longer than late payers wait, plus the time to collect their deposits. */
const latePayersMs = 240_000;
/** Longer than the service takes to see a transfer to a deposit address. */
const depositDetectionMs = 25_000;
/** Longer than a short or late deposit may wait for a decision. */
const lateJumpMs = 4_000_000;

/** The database for an outside observer, without faults. */
export function observerDatabase(connections: Connections): Database {
  const query = connections.observer.query.bind(connections.observer);
  const pool = {
    query: (config: pg.QueryConfig) => connections.observe(config),
    connect: async () => ({ query, on() {}, off() {}, release() {} }),
  };
  return databaseOver(pool as unknown as pg.Pool, () => {}, schema.scope);
}

/** Waits until no work is left, then past every deadline, and waits again. Returns the violations. */
export async function finishAllWork(world: World, connections: Connections): Promise<string[]> {
  const { observer: client } = connections;
  const { scheduler, scenario } = world.options;
  if (scenario.deepReorgMs !== undefined) {
    const haltViolations = await waitForHalts(world, client);
    if (haltViolations.length > 0) return haltViolations;
    const lossViolations = await resumeChains(world, connections);
    if (lossViolations !== undefined) return lossViolations;
  }
  if (scenario.policy !== undefined) {
    const blockedPayouts = await finishUnderLowCaps(world, connections);
    if (blockedPayouts.length > 0) return [...world.violations, ...blockedPayouts];
  }
  const unfinished = async (message: string) => [
    ...world.violations,
    ...(await checkFinalEvents(world, client)),
    message,
  ];
  const before = await waitForOpenWork(world, connections, () => openWorkOf(world, connections, false));
  if (before !== '') return unfinished(`work never finished: ${before}`);
  // If no session is left to expire, only some histories check that passing the deadline changes nothing.
  const isAnythingOpen = (await hasOpenSession(connections)) || openDeposits(world).length > 0;
  const isOver =
    !isAnythingOpen && !world.options.random.fork('jump').chance(scenario.size === 'long' ? 0.2 : 0.05);
  if (isOver) return check(world, client);
  scheduler.advance(expiryJumpMs);
  if (scenario.deposits !== undefined) {
    // Late payers send now, and acceptable deposits are accepted. The others are returned after a later deadline.
    await waitForLatePayers(world, connections);
    scheduler.advance(lateJumpMs);
  }
  const after = await waitForOpenWork(world, connections, () => openWorkOf(world, connections, true));
  if (after !== '') return unfinished(`work never finished after the expiry: ${after}`);
  return check(world, client);
}

/** Waits until all payers have sent to deposit addresses, and the service has collected the deposits. */
async function waitForLatePayers(world: World, connections: Connections): Promise<void> {
  const { scheduler } = world.options;
  const limitMs = scheduler.nowMs + latePayersMs;
  await scheduler.run(
    () => scheduler.nowMs >= limitMs || world.deposits.every(({ hasAllTransfers }) => hasAllTransfers),
  );
  await runFor(world, depositDetectionMs);
  while (scheduler.nowMs < limitMs && (await openWorkOf(world, connections, false)) !== '')
    await runFor(world, checkEveryMs);
}

async function runFor({ options: { scheduler } }: World, ms: number): Promise<void> {
  const untilMs = scheduler.nowMs + ms;
  await scheduler.run(() => scheduler.nowMs >= untilMs);
}

/**
 * While caps are low, payouts that a vault cannot make must not delay those that it can make. Once the caps are
 * raised, all payouts must complete. Returns the violations.
 */
async function finishUnderLowCaps(world: World, connections: Connections): Promise<string[]> {
  const { scheduler } = world.options;
  const limitMs = scheduler.nowMs + workLimitMs;
  const isOperating = () => world.models.some((model) => model.hasPending(operatorAddress));
  while (isOperating() && scheduler.nowMs < limitMs) await runFor(world, checkEveryMs);
  // The service has tried later payouts under the current caps.
  const since = new Date(epochMs + scheduler.nowMs + inProgressMs);
  const untilMs = scheduler.nowMs + lowCapsMs;
  // Without an open session and without other open work, no payout waits, and none will.
  const isIdle = async () =>
    !(await hasOpenSession(connections)) && (await openWorkOf(world, connections, true)) === '';
  while (scheduler.nowMs < untilMs && !(await isIdle())) {
    await runFor(world, checkEveryMs);
    await releaseStoppedChains(connections, 'agreed');
  }
  const blockedPayouts = await findBlockedPayouts(world, connections.observer, since);
  raiseCaps(world);
  return blockedPayouts;
}

/** After a reorg below finality, exactly those chains that contradict a final block must halt. */
async function waitForHalts(world: World, client: pg.Client): Promise<string[]> {
  await runFor(world, 90_000);
  return [...world.violations, ...(await checkHalted(world, client))];
}

/**
 * The operator resumes the chains. Returns undefined if everything that was final is final again: then all work must
 * finish. If a final event stays missing, the service only has to continue, and the operator decides about the event.
 * Returns the violations of that case.
 */
async function resumeChains(world: World, connections: Connections): Promise<string[] | undefined> {
  const { observer: client } = connections;
  const lastSentBefore = await lastTransactionId(client);
  await resumeHaltedChains(world, connections);
  const openWork = await waitForOpenWork(world, connections, async () => {
    if (await hasLostEvent(connections)) return openWorkAfterLoss(world, connections);
    // Books differ until the missing transactions are sent again, and a stopped chain sends nothing.
    await releaseStoppedChains(connections, 'all');
    return openWorkOf(world, connections, false);
  });
  if (!(await hasLostEvent(connections))) return undefined;
  const violations = await checkLostEvents(world, client, lastSentBefore);
  if (openWork !== '') return [...violations, `work never finished on resumed chains: ${openWork}`];
  if (violations.length > 0) return violations;
  // Past the deadlines, also of deposits, nothing waits any more for a payment that is gone.
  world.options.scheduler.advance(expiryJumpMs + lateJumpMs);
  const waiting = await waitForOpenWork(world, connections, () => waitingForLostPayments(connections));
  const after = await checkLostEvents(world, client, lastSentBefore);
  return waiting === '' ? after : [...after, `no end after the deadlines: ${waiting}`];
}

const haltedChains = statement({
  name: 'simulation_halted',
  columns: { chain_id: 'int8' },
  text: `select chain_id from chain_cursors where halted_reason <> ''`,
});

/** Does the same as the operator's command. */
async function resumeHaltedChains(world: World, connections: Connections): Promise<void> {
  const db = observerDatabase(connections);
  const now = new Date(epochMs + world.options.scheduler.nowMs);
  const clock = { now: () => now, monotonicMs: () => 0, sleep: async () => {} };
  for (const { chain_id: chainId } of await db.query(haltedChains))
    await resumeChain(db, clock, Number(chainId));
  connections.cache.clear();
}

const lostEvent = statement({
  name: 'simulation_lost',
  columns: { chain_id: 'int8' },
  text: `select chain_id from dropped_events
   where returned_at is null and event_name not in ('Settled', 'PaidOut', 'Minted', 'Refunded') limit 1`,
});

/** Whether a final event was reverted and has not come back, except for events that the service itself sends again. */
async function hasLostEvent(connections: Connections): Promise<boolean> {
  return (await observerDatabase(connections).query(lostEvent)).length > 0;
}

/** Waits for the work to finish within a reasonable time. Returns the open work. */
async function waitForOpenWork(
  world: World,
  connections: Connections,
  readOpenWork: () => Promise<string>,
): Promise<string> {
  const { scheduler } = world.options;
  const limitMs = scheduler.nowMs + workLimitMs;
  let openWork = 'not checked yet';
  while (openWork !== '' && scheduler.nowMs < limitMs) {
    await runFor(world, checkEveryMs);
    await releaseStoppedChains(connections, 'agreed');
    openWork = await readOpenWork();
  }
  return openWork;
}

const stopped = statement({
  name: 'simulation_stopped',
  parameters: { maxDriftRuns: 'int4?' },
  columns: { chain_id: 'int8' },
  text: `select c.chain_id from chain_cursors c join chain_reconciliations r on r.chain_id = c.chain_id
   where c.stopped_reason = 'drift' and r.drift_runs <= coalesce(:maxDriftRuns, r.drift_runs)`,
});

/**
 * The operator releases settlement on chains that a difference has stopped: only those whose books agree by now, or
 * also those whose missing transactions are yet to be sent again.
 */
async function releaseStoppedChains(connections: Connections, which: 'agreed' | 'all'): Promise<void> {
  const db = observerDatabase(connections);
  for (const { chain_id: chainId } of await db.query(stopped, {
    maxDriftRuns: which === 'agreed' ? 0 : null,
  })) {
    await releaseStopped(db, Number(chainId));
    connections.cache.clear();
  }
}
