import type { Clock } from '#outside/clock.ts';
import type { Log } from './log.ts';

interface Rounds {
  readonly clock: Clock;
  readonly log: Log;
  /** Rest after a round that leaves nothing to do, and after one that failed, in milliseconds. */
  readonly intervalMs: number;
  /** The log's name for a round that failed, and what it says besides. */
  readonly failure: string;
  readonly failureFields?: Readonly<Record<string, unknown>>;
}

/**
 * Runs rounds of background work until the signal aborts. A round that returns true has more to do and is followed by the
 * next at once. One that fails is logged and tried again: whatever it had begun is its own transaction's to undo.
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
