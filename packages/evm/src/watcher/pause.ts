import type { Clock } from '../context.ts';

/**
 * Rounds that announcements may start without a new block. After these, at most one round starts per `pacedMs`.
 * Rounds that find a block do not count, so a fast chain is followed at its own pace.
 */
const wakesAtOnce = 10;
const pacedMs = 20;

/**
 * The wait between two rounds: until the next poll or an earlier notification. Many useless notifications are slowed
 * down.
 */
export interface Pause {
  rest(): Promise<void>;
  /** The round after the last wait has found a block. */
  noteNews(): void;
}

export function pauseBetween(options: {
  readonly pollIntervalMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly wake: ((signal: AbortSignal) => Promise<void>) | undefined;
}): Pause {
  const { pollIntervalMs, clock, signal, wake } = options;
  let pacedUntilMs = Number.NEGATIVE_INFINITY;
  return {
    async rest() {
      if (wake === undefined) return clock.sleep(pollIntervalMs, signal);
      const ended = new AbortController();
      const either = AbortSignal.any([signal, ended.signal]);
      await Promise.race([clock.sleep(pollIntervalMs, either), wake(either)]);
      ended.abort();
      const now = clock.monotonicMs();
      pacedUntilMs = Math.max(pacedUntilMs, now - wakesAtOnce * pacedMs) + pacedMs;
      if (pacedUntilMs > now) await clock.sleep(pacedUntilMs - now, signal);
    },
    noteNews() {
      pacedUntilMs -= pacedMs;
    },
  };
}
