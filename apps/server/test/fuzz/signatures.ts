import { parseArgs } from 'node:util';
import { secp256k1 } from '@florin/signing';
import { fuzzSignatures } from './signature-fuzz.ts';

/**
 * The long run of the comparison; `npm test` makes a short one:
 * npm run fuzz-signatures -- --cases 1000000 --seed 1
 * Exits 1 when a library disagrees, and prints the seed of each such case.
 */

function wholeNumber(name: string, text: string): number {
  const value = Number(text);
  if (!/^\d{1,10}$/.test(text)) throw new Error(`--${name} is ${text}: give a whole number`);
  return value;
}

const { values } = parseArgs({
  options: { cases: { type: 'string', default: '100000' }, seed: { type: 'string', default: '1' } },
});
const cases = wholeNumber('cases', values.cases);
const seed = wholeNumber('seed', values.seed);
const begin = performance.now();
const elapsedSeconds = () => Math.round((performance.now() - begin) / 1_000);
const { accepted, differences, byName } = await fuzzSignatures({ seed, cases }, (done, found) => {
  if (done % 50_000 === 0) console.log(`${done} of ${cases}, ${found} differences, ${elapsedSeconds()} s`);
});
for (const [name, count] of Object.entries(byName).toSorted()) console.log(`  ${name}: ${count}`);
for (const difference of differences) console.log(difference);
const { user, system } = process.cpuUsage();
console.log(
  `${cases} cases from seed ${seed}, ${secp256k1.implementation} curve: ${accepted} accepted, ` +
    `${differences.length} differences, ${elapsedSeconds()} s (${Math.round((user + system) / 1e6)} s of processor time)`,
);
process.exitCode = differences.length === 0 ? 0 : 1;
