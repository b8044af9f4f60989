import { randomInt } from 'node:crypto';

/** The largest seed, so that sums with it stay what generators take: a 32-bit integer. */
const maxSeed = 2 ** 30;

/**
 * Where chance begins in this run: the same place every time, so that a run never fails for what it did not change.
 * FLORIN_FUZZ_SEED=random explores, and any number replays the run that printed it.
 */
export const fuzzSeed = seedOf(process.env['FLORIN_FUZZ_SEED']);

function seedOf(text: string | undefined): number {
  if (text === undefined || text === '') return 20_260_101;
  if (text === 'random') return randomInt(maxSeed);
  const seed = Number(text);
  if (/^\d{1,10}$/.test(text) && seed <= maxSeed) return seed;
  throw new Error(`FLORIN_FUZZ_SEED is ${text}: write random or a number up to ${maxSeed}`);
}

/** Gives one seed after another, for a run of many properties in a fixed order. */
export function seedSequence(): () => number {
  let next = fuzzSeed;
  return () => {
    next += 1;
    return next;
  };
}

/** Says on failure, too, how a run is repeated. */
export function seedNote(): string {
  return `repeat this run with FLORIN_FUZZ_SEED=${fuzzSeed}`;
}
