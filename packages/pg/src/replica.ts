import type { Database, ScopedDatabase } from './database.ts';
import type { Queryable } from './queryable.ts';
import { statement } from './statement.ts';

/** Where a server's log has got to, and the history that it belongs to. */
const positionColumns = { position: 'int8?', timeline: 'int4' } as const;
const zero = "'0/0'::pg_lsn";
const timeline = '(select timeline_id from pg_control_checkpoint()) as timeline';

const writtenPosition = statement({
  name: 'replica_written_position',
  parameters: {},
  columns: positionColumns,
  text: `select (pg_current_wal_insert_lsn() - ${zero})::int8 as position, ${timeline}`,
});

/** Null on a server that is no standby. */
const replayedPosition = statement({
  name: 'replica_replayed_position',
  parameters: {},
  columns: positionColumns,
  text: `select case when pg_is_in_recovery() then pg_last_wal_replay_lsn() - ${zero} end::int8 as position, ${timeline}`,
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
   * that fails over the replica, so it must only read.
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
interface Mark {
  readonly atMs: number;
  readonly position: bigint;
  readonly timeline: number;
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
    if (row?.position != null) marks = [...marks, { atMs, position: row.position, timeline: row.timeline }];
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
        return row.timeline === oldest.timeline && row.position >= oldest.position;
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
