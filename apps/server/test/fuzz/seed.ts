import { randomInt } from 'node:crypto';

/** The largest seed. Sums with it stay within a generator's limit, a 32-bit integer. */
const maxSeed = 2 ** 30;

/**
 * The seed of this run. It is fixed by default, so that a run never fails because of new random values.
 * FLORIN_FUZZ_SEED=random explores, and a number replays the run that printed it.
 */
export const fuzzSeed = seedOf(process.env['FLORIN_FUZZ_SEED']);

function seedOf(text: string | undefined): number {
  if (text === undefined || text === '') return 20_260_101;
  if (text === 'random') return randomInt(maxSeed);
  const seed = Number(text);
  if (/^\d{1,10}$/.test(text) && seed <= maxSeed) return seed;
  throw new Error(`FLORIN_FUZZ_SEED is ${text}: write random or a number up to ${maxSeed}`);
}

/** The factor by which random tests run longer than in `npm test`: FLORIN_FUZZ_FACTOR, 1 by default. */
export const fuzzFactor = factorOf(process.env['FLORIN_FUZZ_FACTOR']);

function factorOf(text: string | undefined): number {
  const factor = Number(text ?? '1');
  if (Number.isSafeInteger(factor) && factor > 0) return factor;
  throw new Error(`FLORIN_FUZZ_FACTOR is ${text}: write a whole number above 0`);
}

/** Returns one seed after another, for a run of many properties in a fixed order. */
export function seedSequence(): () => number {
  let next = fuzzSeed;
  return () => {
    next += 1;
    return next;
  };
}

/** A failure also prints how to repeat the run. */
export function seedNote(): string {
  return `repeat this run with FLORIN_FUZZ_SEED=${fuzzSeed}`;
}
