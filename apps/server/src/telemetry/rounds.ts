import type { Clock } from '#outside/clock.ts';
import type { Log } from './log.ts';

interface Rounds {
  readonly clock: Clock;
  readonly log: Log;
  /** Pause after a round without more work, in milliseconds; a failed round adds a second. */
  readonly intervalMs: number;
  /** The log's event name and fields for a failed round. */
  readonly failure: string;
  readonly failureFields?: Readonly<Record<string, unknown>>;
}

/** A node or the database may not answer: what a round works on is stored, and a later round does it. */
const failurePauseMs = 1_000;

/**
 * Runs rounds of background work until the signal aborts. A round that returns true has more work, and the next follows
 * at once. A failed round is logged and tried again; its own transaction rolls back.
 */
export async function runRounds(
  { clock, log, intervalMs, failure, failureFields }: Rounds,
  signal: AbortSignal,
  round: () => Promise<unknown>,
): Promise<void> {
  while (!signal.aborted) {
    try {
      if ((await round()) === true) continue;
    } catch (error) {
      log.error(failure, error, failureFields);
      await clock.sleep(failurePauseMs, signal);
    }
    await clock.sleep(intervalMs, signal);
  }
}
