import type { Database, ScopedDatabase } from './database.ts';
import type { Queryable } from './queryable.ts';
import { type Row, statement } from './statement.ts';
import { isStatementTimeout } from './transaction.ts';

/** Where a server's log has got to, and the cluster and the history that it belongs to. */
const positionColumns = { position: 'int8?', cluster: 'int8', timeline: 'int4' } as const;
const zero = "'0/0'::pg_lsn";
const cluster = '(select system_identifier from pg_control_system()) as cluster';

// The control file names the timeline of the last checkpoint, which a new primary makes some minutes later.
const writtenPosition = statement({
  name: 'replica_written_position',
  columns: positionColumns,
  text: `select (pg_current_wal_insert_lsn() - ${zero})::int8 as position, ${cluster},
     ('x' || substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8))::bit(32)::int4 as timeline`,
});

/**
 * The position is null on a server that is no standby. Where the role may not see what the standby receives
 * (pg_read_all_stats), the timeline is the last that it has noted on its disk: some minutes late, and never too new.
 */
const replayedPosition = statement({
  name: 'replica_replayed_position',
  columns: positionColumns,
  text: `select case when pg_is_in_recovery() then pg_last_wal_replay_lsn() - ${zero} end::int8 as position, ${cluster},
     greatest(
       (select timeline_id from pg_control_checkpoint()), (select min_recovery_end_timeline from pg_control_recovery()),
       (select received_tli from pg_stat_wal_receiver)
     ) as timeline`,
});

export interface ReplicaOptions {
  readonly primary: Queryable & Pick<Database, 'inScope'>;
  /** Its role is the primary's, so that the same policies hold. */
  readonly replica: Queryable & Pick<Database, 'inScope'>;
  /** Older data of the replica is not used. */
  readonly maxLagMs: number;
  /** Of a steady clock. */
  readonly monotonicMs: () => number;
  /** Whether an error of a read says that the replica is unfit; another one is the caller's. */
  readonly isFailure: (error: unknown) => boolean;
  /** Gets why the replica is left alone for a while. */
  readonly onFailure: (error: unknown) => void;
  /** Called with the server that answered each read. */
  readonly onRead?: ((server: 'primary' | 'replica') => void) | undefined;
}

/** Reads whose answers may be as old as a replica with a bounded lag. */
export interface LaggingReads {
  /**
   * Gives `work` a replica that has everything that was committed until `maxLagMs` ago, and else the primary. Repeats work
   * that fails over the replica, unless it has reached the time limit of statements, so it must only read.
   */
  read<T>(scope: string, work: (db: ScopedDatabase) => Promise<T>): Promise<T>;
  /** The scope has changed something through this process: its reads see that. */
  wrote(scope: string): void;
}

/** Reads where there is no replica. */
export function primaryReads(primary: Pick<Database, 'inScope'>): LaggingReads {
  return { read: (scope, work) => work(primary.inScope(scope)), wrote: () => {} };
}

export function laggingReads(options: ReplicaOptions): LaggingReads {
  const { primary, replica, maxLagMs, monotonicMs, isFailure, onRead } = options;
  const check = replicaCheck(options);
  /** When each scope wrote last, the oldest first. */
  const writes = new Map<string, number>();
  return {
    wrote(scope) {
      const now = monotonicMs();
      writes.delete(scope);
      writes.set(scope, now);
      for (const [other, atMs] of writes) {
        if (atMs >= now - maxLagMs) break;
        writes.delete(other);
      }
    },
    async read(scope, work) {
      const hasWritten = (writes.get(scope) ?? Number.NEGATIVE_INFINITY) >= monotonicMs() - maxLagMs;
      if (!hasWritten && (await check.isFresh())) {
        try {
          const answer = await work(replica.inScope(scope));
          onRead?.('replica');
          return answer;
        } catch (error) {
          // The primary would take as long again.
          if (isStatementTimeout(error)) throw error;
          // What is missing may only be late, so the primary has the last word.
          if (isFailure(error)) check.failed(error);
        }
      }
      onRead?.('primary');
      return work(primary.inScope(scope));
    },
  };
}

/** What a primary had written at a time. */
interface Mark extends Row<typeof writtenPosition> {
  readonly atMs: number;
  readonly position: bigint;
}

/** Marks in the time that the data may be old. */
const marksInLag = 8;
/** An answer of the replica that takes longer is no use. */
const answerLimitMs = 1_000;
const pauseAfterFailureMs = 5_000;

/**
 * Compares positions in the log, and no times: what the primary has written is read now and then, with the time before the
 * question. A replica that has replayed as much has everything that was committed by then. So neither the clocks of servers
 * matter, nor an idle primary, nor a replica that receives nothing and does not know it.
 */
function replicaCheck({ primary, replica, maxLagMs, monotonicMs, onFailure }: ReplicaOptions) {
  let marks: readonly Mark[] = [];
  let isMarking = false;
  let pausedUntilMs = Number.NEGATIVE_INFINITY;
  const failed = (error: unknown) => {
    pausedUntilMs = monotonicMs() + pauseAfterFailureMs;
    onFailure(error);
  };
  const mark = async () => {
    const atMs = monotonicMs();
    const [row] = await primary.query(writtenPosition);
    if (row?.position != null) marks = [...marks, { ...row, atMs, position: row.position }];
  };
  /** What the replica needs; undefined while it is not known. The next mark is read beside, so that no caller waits for it. */
  const oldestMark = () => {
    const now = monotonicMs();
    marks = marks.filter(({ atMs }) => atMs >= now - maxLagMs);
    const isDue = (marks.at(-1)?.atMs ?? Number.NEGATIVE_INFINITY) < now - maxLagMs / marksInLag;
    // A primary that is away fails its callers by itself.
    if (isDue && !isMarking) {
      isMarking = true;
      void mark()
        .catch(() => {})
        .finally(() => {
          isMarking = false;
        });
    }
    return marks[0];
  };
  return {
    failed,
    /** False also when the replica does not say it in time. */
    async isFresh(): Promise<boolean> {
      const oldest = oldestMark();
      if (oldest === undefined || monotonicMs() < pausedUntilMs) return false;
      try {
        const [row] = await inTime(replica.query(replayedPosition));
        if (row?.position == null) return false;
        const isSameHistory = row.cluster === oldest.cluster && row.timeline === oldest.timeline;
        return isSameHistory && row.position >= oldest.position;
      } catch (error) {
        failed(error);
        return false;
      }
    },
  };
}

async function inTime<T>(answer: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error('the replica does not answer')), answerLimitMs);
  try {
    return await Promise.race([answer, late.promise]);
  } finally {
    clearTimeout(timer);
    answer.catch(() => {});
  }
}
