import type { Database, Transaction } from '@florin/pg';
import type { Clock } from '#outside/clock.ts';
import type { Log } from '#telemetry/log.ts';
import { runRounds } from '#telemetry/rounds.ts';
import {
  checkAllChains,
  knownTimeline,
  noteChangedHistory,
  noteTimeline,
  presentTimeline,
  stopAllChains,
} from './timeline.sql.ts';

const intervalMs = 2_000;

interface TimelineContext {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
}

/** Notices that the database may lack commits that this service knows. */
export interface TimelineWatch {
  /** Looks once. What may have been lost is handled like a restored backup before this returns. */
  check(): Promise<void>;
  /** Looks every two seconds until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

/**
 * Compares the database with the one that was last seen. Another timeline is the work of a failover or of a restore, and
 * neither says whether it kept every commit. A smaller beat than this process remembers is an older copy. Both stop
 * settlement, payouts and refunds on every chain as a restore does, until the books agree with the chain again.
 */
export function timelineWatch({ db, clock, log }: TimelineContext): TimelineWatch {
  let lastBeat: bigint | undefined;
  const check = async () => {
    const { beat, change } = await db.transaction((transaction) =>
      compareTimeline(transaction, clock.now(), lastBeat),
    );
    lastBeat = beat;
    if (change !== undefined)
      log.error(
        'database.history_changed',
        new Error('settlement waits until books and chains agree'),
        change,
      );
  };
  return {
    check,
    run: (signal) => runRounds({ clock, log, intervalMs, failure: 'database.look_failed' }, signal, check),
  };
}

async function compareTimeline(
  transaction: Transaction,
  now: Date,
  lastBeat: bigint | undefined,
): Promise<{ readonly beat: bigint; readonly change: Record<string, unknown> | undefined }> {
  const [present] = await transaction.query(presentTimeline);
  const [known] = await transaction.query(knownTimeline);
  if (present === undefined) throw new Error('the database does not say which one it is');
  const { system_identifier: systemIdentifier, timeline } = present;
  const isOlder = lastBeat !== undefined && (known?.beat ?? -1n) < lastBeat;
  const isOther =
    known !== undefined && (known.system_identifier !== systemIdentifier || known.timeline !== timeline);
  // The beat also grows beyond what this process remembers, or each process would see an older copy in turn.
  const beat = lastBeat ?? 0n;
  const [noted] = await transaction.query(noteTimeline, { systemIdentifier, timeline, beat, seenAt: now });
  if (noted === undefined) throw new Error('the timeline was not stored');
  if (!isOlder && !isOther) return { beat: noted.beat, change: undefined };
  const seenAt = known?.seen_at ?? now;
  await transaction.query(noteChangedHistory, { takenAt: seenAt, restoredAt: now });
  await transaction.query(stopAllChains);
  await transaction.query(checkAllChains, { now });
  return {
    beat: noted.beat,
    change: {
      seenAt: seenAt.toISOString(),
      timelineBefore: known?.timeline ?? '',
      timeline,
      isOtherServer: known !== undefined && known.system_identifier !== systemIdentifier,
      isOlder,
    },
  };
}
