import { setTimeout as sleep } from 'node:timers/promises';
import type { ProcessExit } from './process.ts';

const RESTART_PAUSES_MS = [100, 1_000, 3_000, 10_000] as const;
/** A child that ran this long had recovered: its next end restarts the backoff. */
const RECOVERED_AFTER_MS = 60_000;

const describeExit = ({ code, signal }: ProcessExit): string => (signal === null ? `code ${code}` : signal);

/** Restarts children that end unexpectedly, with growing delays while they keep failing, until it is stopped. */
export class Revivals {
  readonly #log: (line: string) => void;
  readonly #ending = new AbortController();
  readonly #running = new Set<Promise<void>>();
  readonly #attempts = new Map<string, { count: number; startedAt: number }>();

  constructor(log: (line: string) => void) {
    this.#log = log;
  }

  /** Restarts this child when it ends. */
  watch(name: string, exited: Promise<ProcessExit>, start: () => Promise<void>): void {
    this.#attempts.set(name, {
      count: this.#attempts.get(name)?.count ?? 0,
      startedAt: performance.now(),
    });
    void exited.then((exit) => {
      if (this.#ending.signal.aborted) return;
      const revival = this.#revive(name, exit, start).finally(() => this.#running.delete(revival));
      this.#running.add(revival);
    });
  }

  /** Restarts nothing any more. */
  stop(): void {
    this.#ending.abort();
  }

  /** Waits for the restarts that are under way. */
  async settle(): Promise<void> {
    await Promise.allSettled(this.#running);
  }

  async #revive(name: string, exit: ProcessExit, start: () => Promise<void>): Promise<void> {
    const { signal } = this.#ending;
    let ending = `ended (${describeExit(exit)})`;
    while (!signal.aborted) {
      const { count = 0, startedAt = 0 } = this.#attempts.get(name) ?? {};
      const attempt = performance.now() - startedAt > RECOVERED_AFTER_MS ? 0 : count;
      this.#attempts.set(name, { count: attempt + 1, startedAt });
      const pauseMs = RESTART_PAUSES_MS[Math.min(attempt, RESTART_PAUSES_MS.length - 1)] ?? 0;
      this.#log(`! ${name} ${ending}; restarting in ${pauseMs / 1_000} s.`);
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      const begin = performance.now();
      try {
        await start();
        this.#log(`✓ ${name} is running again (${((performance.now() - begin) / 1_000).toFixed(1)} s).`);
        return;
      } catch (error) {
        ending = `did not start (${error instanceof Error ? error.message : String(error)})`;
      }
    }
  }
}
