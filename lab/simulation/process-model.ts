import type { Clock } from '@florin/server/operator';
import type { Faults } from './faults.ts';
import type { Owner, Scheduler } from './scheduler.ts';

/** The wall clock's reading when a history begins, in milliseconds. */
export const epochMs = Date.UTC(2030, 0, 1);

export interface ProcessOptions {
  readonly name: string;
  readonly scheduler: Scheduler;
  readonly faults: Faults;
  /** Milliseconds that its wall clock is ahead of the true time. Negative: behind. */
  readonly skewMs: number;
}

/**
 * A process of the service: code that waits for inputs and outputs only. At each of them it may be killed, before or
 * after the effect of its request. It may also pause, and then continue as if nothing had happened.
 */
export class ModelProcess implements Owner {
  readonly name: string;
  readonly scheduler: Scheduler;
  isAlive = true;
  pausedUntilMs = 0;
  /** Resolves when the process is killed. */
  readonly killed: Promise<void>;
  readonly clock: Clock;
  /** Runs when the process dies or pauses, for example to close connections. */
  readonly onDeath: (() => Promise<void>)[] = [];
  readonly onPause: ((ms: number) => void)[] = [];
  readonly #faults: Faults;
  readonly #resolveKilled: () => void;

  constructor({ name, scheduler, faults, skewMs }: ProcessOptions) {
    this.name = name;
    this.scheduler = scheduler;
    this.#faults = faults;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.killed = promise;
    this.#resolveKilled = resolve;
    this.clock = {
      now: () => new Date(epochMs + scheduler.nowMs + skewMs),
      monotonicMs: () => scheduler.nowMs,
      sleep: (ms, signal) => this.#sleep(ms, signal),
    };
  }

  /** An input or output that the process waits for, after a delay. */
  io(ms: number, label: string, action: () => void | Promise<void>): void {
    this.scheduler.after(ms, this, label, async () => {
      const { random } = this.#faults;
      if (this.#faults.occurs('crash')) {
        if (random.chance(0.5)) await action();
        return this.kill();
      }
      if (this.#faults.occurs('pause')) {
        const pauseMs = random.between(1_000, 60_000);
        if (random.chance(0.5)) await action();
        else this.scheduler.after(0, this, `${label} late`, action);
        this.pausedUntilMs = this.scheduler.nowMs + pauseMs;
        this.scheduler.trace(`${this.name} paused for ${pauseMs} ms`);
        for (const listener of this.onPause) listener(pauseMs);
        return;
      }
      await action();
    });
  }

  /** Kills the process at once. Its pending work never returns. */
  async kill(): Promise<void> {
    if (!this.isAlive) return;
    this.isAlive = false;
    this.scheduler.trace(`${this.name} killed`);
    for (const end of this.onDeath) await end();
    this.#resolveKilled();
  }

  #sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted === true) return Promise.resolve();
    return new Promise((resolve) => {
      const resume = () => {
        signal?.removeEventListener('abort', resume);
        resolve();
      };
      signal?.addEventListener('abort', resume, { once: true });
      this.scheduler.after(ms, this, 'sleep', resume);
    });
  }
}
