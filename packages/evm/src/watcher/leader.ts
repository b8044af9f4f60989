import type { Database } from '@florin/pg';
import type { Clock, Log } from '../context.ts';
import { acquireLeadership, leaderOfChain, releaseLeadership, renewLeadership } from './leader.sql.ts';

/** A process that wants to lead, and its knowledge about other processes. */
export interface Candidate {
  /** Not empty. */
  readonly id: string;
  /** Whether the process of this name has certainly ended. False when this process cannot know. */
  isGone(id: string): boolean;
}

/** One process at a time leads a chain. */
export interface Leadership {
  /** The term in which this process leads; undefined while it does not lead. */
  term(): bigint | undefined;
  /** Renews the leadership once, or takes it over from a leader that has ended. */
  check(): Promise<void>;
  /** Checks repeatedly. Resigns when the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

const beatMs = 400;
/** A leader without a heartbeat for this long is replaced. */
const heartbeatLimitMs = 2_000;

/**
 * Acquires and keeps the leadership of one chain. A lease alone is not enough: a paused process does not know that
 * its lease has expired. So every statement that moves the chain compares the leader's term. Each process measures
 * the time between two of its own checks, so clocks need not agree.
 */
export function leadershipOf(options: {
  readonly chainId: number;
  readonly candidate: Candidate;
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
}): Leadership {
  const { chainId, candidate, db, clock, log } = options;
  let term: bigint | undefined;
  let seen: { term: bigint; beat: bigint; sinceMs: number } | undefined;

  const keep = async (own: bigint) => {
    const rows = await db.query(renewLeadership, { chainId, leaderTerm: own });
    if (rows.length > 0 || term !== own) return;
    term = undefined;
    log.warn('watcher.lead_lost', { chainId, term: own.toString() });
  };
  const mayTake = (leaderId: string) =>
    leaderId === '' ||
    candidate.isGone(leaderId) ||
    (seen !== undefined && clock.monotonicMs() - seen.sinceMs >= heartbeatLimitMs);
  const check = async () => {
    if (term !== undefined) return keep(term);
    const [row] = await db.query(leaderOfChain, { chainId });
    if (row === undefined) return;
    const { leader_id: leaderId, leader_term: theirs, leader_beat: beat } = row;
    if (seen?.term !== theirs || seen.beat !== beat) {
      seen = { term: theirs, beat, sinceMs: clock.monotonicMs() };
    }
    if (!mayTake(leaderId)) return;
    const [taken] = await db.query(acquireLeadership, {
      chainId,
      leaderTerm: theirs,
      leaderBeat: beat,
      leaderId: candidate.id,
    });
    seen = undefined;
    if (taken === undefined) return;
    term = taken.leader_term;
    log.info('watcher.lead_taken', { chainId, term: term.toString(), before: leaderId });
  };
  return {
    term: () => term,
    check,
    async run(signal) {
      while (!signal.aborted) {
        await check().catch((error) =>
          log.warn('watcher.lead_unknown', { chainId, message: messageOf(error) }),
        );
        await clock.sleep(beatMs, signal);
      }
      if (term === undefined) return;
      // The successor can start at once. If the database is down, it waits until the heartbeat is missing.
      await db
        .query(releaseLeadership, { chainId, leaderTerm: term })
        .catch((error) => log.warn('watcher.lead_kept', { chainId, message: messageOf(error) }));
      term = undefined;
    },
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
