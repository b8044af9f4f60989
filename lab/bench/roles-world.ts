import { join } from 'node:path';
import { startPostgres } from '@florin/world';
import { type ChaosWorld, startChaosWorld } from '../chaos/chaos-world.ts';
import { cpuOf, cpuOfChildren } from './cpu.ts';

export const parts = ['web', 'watcher', 'worker', 'PostgreSQL'] as const;
/** Processor time so far, in microseconds, by what used it. */
export type Times = Readonly<Record<(typeof parts)[number], number>>;

/** A process of each role over a durable PostgreSQL and two chains, and what reads their processor time. */
export interface RolesWorld {
  readonly world: ChaosWorld;
  readonly times: () => Times;
}

export async function startRolesWorld(): Promise<RolesWorld> {
  let postgresPid = 0;
  const none = async () => undefined;
  const world = await startChaosWorld(async (folder) => {
    const settings = { max_wal_size: '4GB', min_wal_size: '1GB' };
    const postgres = await startPostgres({ dataFolder: join(folder, 'postgres'), isDurable: true, settings });
    postgresPid = postgres.pid;
    return { url: postgres.url, replicas: 1, crash: none, revive: none, stop: postgres.stop };
  });
  const own = (role: string) =>
    world.members.reduce(
      (sum, { name, process }) => (name.startsWith(role) ? sum + cpuOf(process.pid ?? 0) : sum),
      0,
    );
  const times = (): Times => ({
    web: own('web'),
    watcher: own('watcher'),
    worker: own('worker'),
    PostgreSQL: cpuOf(postgresPid) + cpuOfChildren(postgresPid),
  });
  return { world, times };
}

/** What was used between two readings. */
export function timesBetween(before: Times, after: Times): Times {
  return Object.fromEntries(parts.map((part) => [part, after[part] - before[part]])) as Times;
}
