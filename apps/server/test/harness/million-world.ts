import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate, openDatabase } from '@florin/pg';
import { startPostgres } from '@florin/world';
import { schema } from '#db/schema.ts';
import { DashboardWorld } from './dashboard-world.ts';
import type { TestDatabase } from './database.ts';
import { type ManySessions, seedSessions } from './many-sessions.ts';

/** The settings of a server with some memory. */
const settings = {
  shared_buffers: '1GB',
  max_wal_size: '4GB',
  work_mem: '16MB',
  maintenance_work_mem: '256MB',
};
const dayMs = 86_400_000;
const tickMs = 50;
/** The other merchants, each with as many sessions as a twentieth of the measured one's. */
const others = 2;

/** The dashboard over a database with very many sessions. */
export interface MillionWorld {
  readonly world: DashboardWorld;
  /** Those of the measured merchant. */
  readonly sessions: ManySessions;
  /** Those of the others. */
  readonly others: readonly ManySessions[];
}

/**
 * Opens the dashboard over a database with `count` sessions of one merchant. `FLORIN_MILLION` names a folder that keeps the
 * database for the next run; without it the database ends with the world.
 */
export async function openMillionWorld(
  origin: string,
  count: number,
  log: (line: string) => void,
): Promise<MillionWorld> {
  const kept = process.env['FLORIN_MILLION'];
  const folder = kept ?? (await mkdtemp(join(tmpdir(), 'florin-million-')));
  mkdirSync(folder, { recursive: true });
  // If root starts it, PostgreSQL runs as another user, who must be able to enter this folder.
  await chmod(folder, 0o755);
  const server = await startPostgres({ dataFolder: join(folder, 'postgres'), isDurable: false, settings });
  await migrate(server.url, schema);
  const db = openDatabase({ url: server.url, schema, connections: 10 });
  let ticking: NodeJS.Timeout | undefined;
  const database: TestDatabase = {
    ...{ url: server.url, db },
    async close() {
      clearInterval(ticking);
      await db.close();
      await server.stop();
      if (kept === undefined) await rm(folder, { recursive: true, force: true });
    },
  };
  const world = await DashboardWorld.open(undefined, origin, database);
  // The clock goes on, so that the limits of requests do, too.
  const { clock } = world.merchants;
  ticking = setInterval(() => {
    clock.time = Date.now();
  }, tickMs);
  const seededFile = join(folder, 'sessions.json');
  if (!existsSync(seededFile)) {
    const made: ManySessions[] = [];
    for (let merchant = 0; merchant <= others; merchant += 1) {
      const merchantId = await world.merchants.addMerchant();
      const accountIds = [
        await world.merchants.addAccount(merchantId),
        await world.merchants.addAccount(merchantId),
      ] as const;
      const own = merchant === 0 ? count : Math.ceil(count / 20);
      // The last one is settled before this day begins.
      const startedAt = (Math.floor(Date.now() / dayMs) * dayMs) / 1000 - (own + 60) * 7;
      made.push({ merchantId, accountIds, count: own, startedAt });
    }
    await seedSessions(server.url, db, made.toReversed(), log);
    writeFileSync(seededFile, JSON.stringify(made));
  }
  const [sessions, ...rest] = JSON.parse(readFileSync(seededFile, 'utf8')) as ManySessions[];
  if (sessions === undefined) throw new Error(`${seededFile} names no merchant`);
  return { world, sessions, others: rest };
}
