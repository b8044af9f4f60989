import { readNumber } from './chain-method.ts';

/** Seconds since 1970 by the machine's clock. */
const readSeconds = (): number => Math.floor(Date.now() / 1_000);
/** Times above this are milliseconds: the year 5138 in seconds. */
const MILLISECONDS_FLOOR = 100_000_000_000;

/**
 * Decides each block's time before it is mined, so that the journal can store it and a replay can repeat it. Follows
 * the machine's clock plus `evm_increaseTime` and `evm_setTime`; always rises.
 */
export class ChainClock {
  #lastSeconds: number;
  #offsetSeconds: number;
  #nextSeconds: number | undefined;
  #stepSeconds = 1;

  constructor(lastBlockSeconds: number) {
    this.#lastSeconds = lastBlockSeconds;
    // A chain that was moved ahead continues from there after a restart instead of stopping.
    this.#offsetSeconds = Math.max(0, lastBlockSeconds - readSeconds());
  }

  /** Takes the times of the next blocks. */
  take(
    count: number,
    stepSeconds: number | undefined,
  ): readonly [first: number, count: number, step: number] {
    const wanted = this.#nextSeconds ?? readSeconds() + this.#offsetSeconds;
    const first = Math.max(this.#lastSeconds + 1, wanted);
    const step = Math.max(1, stepSeconds ?? this.#stepSeconds);
    if (this.#nextSeconds !== undefined) this.#offsetSeconds = Math.max(0, first - readSeconds());
    this.#nextSeconds = undefined;
    this.#lastSeconds = first + step * (count - 1);
    return [first, count, step];
  }

  /** Takes the earliest time that the next block may have, which keeps set-up blocks in the past. */
  takeEarliest(): readonly [first: number, count: number, step: number] {
    this.#lastSeconds += 1;
    return [this.#lastSeconds, 1, 1];
  }

  /** Sets the clock after the head of a chain was replaced. */
  follow(lastBlockSeconds: number): void {
    this.#lastSeconds = lastBlockSeconds;
  }

  /** Answers anvil's clock methods, without their prefix. */
  control(name: string, params: readonly unknown[]): unknown {
    const value = readNumber(params[0]);
    if (name === 'removeBlockTimestampInterval') {
      this.#stepSeconds = 1;
      return true;
    }
    if (value === undefined) throw new TypeError(`${name} requires a number of seconds.`);
    if (name === 'increaseTime') {
      this.#offsetSeconds += value;
      return this.#offsetSeconds;
    }
    if (name === 'setBlockTimestampInterval') {
      this.#stepSeconds = value;
      return null;
    }
    const seconds = value > MILLISECONDS_FLOOR ? Math.floor(value / 1_000) : value;
    if (name === 'setTime') {
      this.#offsetSeconds = seconds - readSeconds();
      return this.#offsetSeconds;
    }
    if (seconds <= this.#lastSeconds) {
      throw new TypeError(`Timestamp error: ${seconds} is lower than or equal to previous block's timestamp`);
    }
    this.#nextSeconds = seconds;
    return null;
  }
}
