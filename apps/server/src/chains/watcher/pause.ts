import type { Clock } from '#outside/clock.ts';

/**
 * Rounds that nodes may begin for nothing by saying that there is a new head; however often they say so, there is no more
 * than one each `pacedMs` beyond those. Rounds that find a block are not counted: a fast chain is followed at its own pace.
 */
const wakesAtOnce = 10;
const pacedMs = 20;

/** The wait between two rounds: until the next poll, or until a wake-up before it, at once unless that is too often in vain. */
export interface Pause {
  rest(): Promise<void>;
  /** The round that the last wait led to has found a block. */
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
