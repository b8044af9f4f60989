/** The SDK's access to the outside world; tests replace it. */
export interface SdkOutside {
  readonly fetch: typeof fetch;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** From 0 to below 1. */
  readonly random: () => number;
  readonly randomUuid: () => string;
  /** Waits; returns early when the signal aborts. */
  readonly pause: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
}

/** The runtime's own clock, randomness and network. */
export const realOutside: SdkOutside = {
  // The present one at each call: instrumentation replaces it.
  fetch: (input, init) => fetch(input, init),
  now: () => Date.now(),
  random: () => Math.random(),
  randomUuid: () => crypto.randomUUID(),
  pause: (ms, signal) =>
    new Promise((resolve) => {
      const finish = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', finish);
        resolve();
      };
      const timer = setTimeout(finish, ms);
      signal?.addEventListener('abort', finish);
      if (signal?.aborted === true) finish();
    }),
};
