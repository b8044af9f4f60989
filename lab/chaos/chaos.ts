import { statement } from '@florin/pg';
import { systemClock } from '@florin/server/operator';
import { findViolations, settleDown } from './chaos-check.ts';
import { type HarmCounts, harm, mineChain, supervise } from './chaos-faults.ts';
import { buy, fundBuyers, type Sale } from './chaos-payers.ts';
import { type ChaosWorld, startChaosWorld } from './chaos-world.ts';

/** The result of a run. */
export interface ChaosReport {
  readonly seconds: number;
  readonly harm: HarmCounts;
  /** Whether the run could fill the disk, which needs the right to mount one. */
  readonly hasSmallDisk: boolean;
  readonly sessions: number;
  readonly payments: number;
  readonly crossChain: number;
  readonly deliveries: number;
  readonly secondsToHeal: number;
  /** One sentence per violation. Empty when chains, ledger, sessions and webhooks agree. */
  readonly violations: readonly string[];
}

/** The position of each chain, for debugging. */
const chaosCursors = statement({
  name: 'chaos_cursors',
  columns: {
    chain_id: 'int8',
    head: 'int8',
    final: 'int8',
    halted_reason: 'text',
    leader_id: 'text',
    leader_beat: 'int8',
  },
  text: `select chain_id, head_number as head, final_number as final, halted_reason, leader_id, leader_beat
   from chain_cursors order by chain_id`,
});

function textOf(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value;
}

const buyerCount = 6;
/** Time limit for finishing all work after the faults. It is generous, for slow machines. */
const healingMs = 180_000;

/**
 * Runs the whole service under faults for some seconds while payers pay. Then the service recovers, and the checker
 * compares all records.
 */
export async function runChaos(seconds: number, tell: (sentence: string) => void): Promise<ChaosReport> {
  const world = await startChaosWorld();
  try {
    if (world.disk === undefined)
      tell('full disks are skipped: they require the permission to mount a small file system');
    return await shake(world, seconds, tell);
  } finally {
    await world.close();
  }
}

async function shake(
  world: ChaosWorld,
  seconds: number,
  tell: (sentence: string) => void,
): Promise<ChaosReport> {
  const counts: HarmCounts = {
    kills: 0,
    pauses: 0,
    reorgs: 0,
    databaseCrashes: 0,
    nodeFaults: 0,
    fullDisks: 0,
    restarts: 0,
  };
  const buyers = await fundBuyers(world, buyerCount);
  const [storm, mining, givingUp] = [new AbortController(), new AbortController(), new AbortController()];
  const sales: Sale[] = [];
  const chains = world.chains.map((chain) =>
    mineChain(chain, mining.signal, { counts, signal: storm.signal }),
  );
  const supervisor = supervise(world, counts, mining.signal);
  const payers = buyers.map((buyer) =>
    buy(world, buyer, sales, { ending: storm.signal, givingUp: givingUp.signal }),
  );
  const harms = harm(world, counts, storm.signal);
  tell(`the stress run starts: ${world.members.length} processes, ${buyerCount} payers, ${seconds} s`);
  await systemClock.sleep(seconds * 1_000);
  storm.abort();
  await harms;
  tell('the stress run is over; waiting until everything is paid, settled and delivered');
  const start = performance.now();
  const patience = systemClock.sleep(healingMs, givingUp.signal).then(() => givingUp.abort());
  await Promise.all(payers);
  givingUp.abort();
  await patience;
  const left = await settleDown(world, healingMs);
  const secondsToHeal = Math.round((performance.now() - start) / 1_000);
  // The books know the last settlements only once these are final.
  mining.abort();
  await Promise.all([...chains, supervisor]);
  // The checker reads last, while no process runs.
  await Promise.all(world.members.map((member) => member.process.stop()));
  const violations = [...left, ...(await findViolations(world, sales))];
  if (violations.length > 0) {
    for (const { name, process } of world.members) tell(`the last output of ${name}:\n${process.output}`);
    for (const cursor of await world.db.query(chaosCursors))
      tell(`cursor: ${JSON.stringify(cursor, textOf)}`);
  }
  const paid = sales.filter(({ orderId }) => orderId !== '');
  return {
    seconds,
    harm: counts,
    hasSmallDisk: world.disk !== undefined,
    sessions: sales.length,
    payments: paid.length,
    crossChain: paid.filter(({ settlementToken, payChain }) => !settlementToken.startsWith(`${payChain}:`))
      .length,
    deliveries: world.receiver.requests.length,
    secondsToHeal,
    violations,
  };
}
