import { type Database, statement } from '@florin/pg';
import { systemClock } from '#outside/clock.ts';

const waiters = statement({
  name: 'harness_lock_waiters',
  columns: { pid: 'int4?' },
  text: 'select l.pid from pg_locks l join pg_stat_activity a using (pid) where not granted and datname = current_database()',
});

/** Returns once a statement over this database waits for a lock. */
export async function untilLockWaiter(db: Database): Promise<void> {
  while ((await db.query(waiters)).length === 0) await systemClock.sleep(5);
}
