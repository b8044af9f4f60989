import { createHash } from 'node:crypto';
import type { Hex } from '@florin/protocol/order.ts';
import type { Random } from '@florin/server/operator';

/** Randomness from a seed: the same calls in the same order give the same results. */
export interface SeededRandom extends Random {
  /** A whole number of at least `least` and at most `most`. */
  between(least: number, most: number): number;
  /** True with this probability. */
  chance(probability: number): boolean;
  pick<T>(choices: readonly T[]): T;
  /** An independent stream. Draws from it do not affect this one. A new label gives every seed another history. */
  fork(label: string): SeededRandom;
}

/** FNV-1a over UTF-16 units, 32 bits. */
export function hashText(text: string, start = 0x811c9dc5): number {
  let hash = start;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash >>> 0;
}

/** Mulberry32: 32 bits of state. That is enough for a few thousand draws, and fast. */
export function seededRandom(seed: number): SeededRandom {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (least: number, most: number) => least + Math.floor(next() * (most - least + 1));
  return {
    fraction: next,
    bytes: (size) => Uint8Array.from({ length: size }, () => Math.floor(next() * 256)),
    between,
    chance: (probability) => next() < probability,
    pick(choices) {
      const choice = choices[between(0, choices.length - 1)];
      if (choice === undefined) throw new RangeError('nothing to choose from');
      return choice;
    },
    fork: (label) => seededRandom(hashText(label, hashText(String(seed)))),
  };
}

/** 32 bytes derived from a text. */
export function modelHash(text: string): Hex {
  return `0x${createHash('sha256').update(text).digest('hex')}`;
}
