import type { Faults } from '@florin/evm/testing';
import { systemClock, systemRandom } from '@florin/server/operator';
import type { ChaosChain, ChaosMember, ChaosWorld } from './chaos-world.ts';

/** Number of faults by kind. */
export interface HarmCounts {
  kills: number;
  pauses: number;
  reorgs: number;
  databaseCrashes: number;
  nodeFaults: number;
  fullDisks: number;
  /** Processes that had ended by themselves and were restarted. */
  restarts: number;
}

const blockMs = 300;
/** Maximum depth of a reorg. The sixth block below the head is final. */
const deepestReorg = 4;
const nodeFaults: readonly (keyof Faults)[] = [
  'emptyReceipts',
  'noBlockReceipts',
  'hang',
  'tooManyRequests',
  'halfJson',
  'wrongChainId',
  'dropSent',
  'errorAfterSending',
  'prunedState',
  'cutOff',
  'otherIds',
];
/** Faults of the WebSocket's announcements while the node's HTTP works. */
const socketFaults: readonly (keyof Faults)[] = ['hang', 'halfJson', 'hugeBody', 'cutOff'];

function pick<T>(all: readonly T[]): T {
  const chosen = all[Math.floor(systemRandom.fraction() * all.length)];
  if (chosen === undefined) throw new Error('nothing to choose from');
  return chosen;
}

function between(from: number, to: number): number {
  return Math.floor(from + systemRandom.fraction() * (to - from));
}

/** Mines blocks on a chain until the signal aborts. While a storm lasts, it sometimes makes a reorg. */
export async function mineChain(
  { life }: ChaosChain,
  signal: AbortSignal,
  storm?: { readonly counts: HarmCounts; readonly signal: AbortSignal },
): Promise<void> {
  while (!signal.aborted) {
    if (storm?.signal.aborted === false && systemRandom.fraction() < 0.08) {
      await life.anvil.request('anvil_reorg', [between(1, deepestReorg + 1), []]);
      storm.counts.reorgs += 1;
    }
    await life.anvil.mine();
    await systemClock.sleep(blockMs, signal);
  }
}

/** Restarts every process that has ended by itself, until the signal aborts. `kill` restarts its own victims. */
export async function supervise(world: ChaosWorld, counts: HarmCounts, signal: AbortSignal): Promise<void> {
  const starting = new Set<ChaosMember>();
  while (!signal.aborted) {
    for (const member of world.members) {
      if (member.process.isAlive() || starting.has(member)) continue;
      starting.add(member);
      counts.restarts += 1;
      // Without a database the start fails. The next round tries again.
      void member.process
        .start()
        .catch(() => undefined)
        .finally(() => starting.delete(member));
    }
    await systemClock.sleep(200, signal);
  }
}

/** Causes all kinds of faults in random order until the signal aborts. Then it repairs everything. */
export async function harm(world: ChaosWorld, counts: HarmCounts, signal: AbortSignal): Promise<void> {
  const every = async (pauseMs: readonly [number, number], work: () => Promise<void>) => {
    while (!signal.aborted) {
      await systemClock.sleep(between(...pauseMs), signal);
      if (!signal.aborted) await work();
    }
  };
  await Promise.all([
    every([1_500, 4_000], () => killSomebody(world, counts)),
    every([3_000, 6_000], () => pauseSomebody(world, counts, signal)),
    every([500, 2_000], () => troubleNode(world, counts, signal)),
    every([6_000, 12_000], () => harmDatabase(world, counts, signal)),
  ]);
}

async function killSomebody(world: ChaosWorld, counts: HarmCounts): Promise<void> {
  const member = pick(world.members);
  if (!member.process.isAlive()) return;
  counts.kills += 1;
  await member.process.kill();
}

async function pauseSomebody(world: ChaosWorld, counts: HarmCounts, signal: AbortSignal): Promise<void> {
  const member = pick(world.members);
  counts.pauses += 1;
  member.process.setPaused(true);
  await systemClock.sleep(between(500, 4_000), signal);
  member.process.setPaused(false);
}

async function troubleNode(world: ChaosWorld, counts: HarmCounts, signal: AbortSignal): Promise<void> {
  const node = pick(pick(world.chains).nodes);
  const isOfSocket = systemRandom.fraction() < 0.3;
  const faults = isOfSocket ? node.socketFaults : node.faults;
  const fault = pick(isOfSocket ? socketFaults : nodeFaults);
  counts.nodeFaults += 1;
  faults[fault] = true;
  await systemClock.sleep(between(300, 3_000), signal);
  faults[fault] = false;
}

async function harmDatabase(world: ChaosWorld, counts: HarmCounts, signal: AbortSignal): Promise<void> {
  if (world.disk === undefined || systemRandom.fraction() < 0.7) {
    counts.databaseCrashes += 1;
    return world.crashDatabase();
  }
  counts.fullDisks += 1;
  await world.disk.fill();
  await systemClock.sleep(between(1_000, 3_000), signal);
  await world.disk.free();
  await world.reviveDatabase();
}
