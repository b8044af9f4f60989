import type { Clock } from '#outside/clock.ts';
import type { Log } from './log.ts';

interface Rounds {
  readonly clock: Clock;
  readonly log: Log;
  /** Pause after an idle round or a failed one, in milliseconds. */
  readonly intervalMs: number;
  /** The log's event name and fields for a failed round. */
  readonly failure: string;
  readonly failureFields?: Readonly<Record<string, unknown>>;
}

/**
 * Runs rounds of background work until the signal aborts. A round that returns true has more work, and the next follows
 * at once. A failed round is logged and tried again; its own transaction rolls back.
 */
export async function runRounds(
  { clock, log, intervalMs, failure, failureFields }: Rounds,
  signal: AbortSignal,
  round: () => Promise<boolean>,
): Promise<void> {
  while (!signal.aborted) {
    try {
      if (await round()) continue;
    } catch (error) {
      log.error(failure, error, failureFields);
    }
    await clock.sleep(intervalMs, signal);
  }
}
