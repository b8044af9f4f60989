import { parseArgs } from 'node:util';
import { testDatabase } from '@florin/server/testing';
import { compareSequence, type ModelComparison } from './compare.ts';
import { startRealChain } from './real-chain.ts';
import { writeFigures } from './report.ts';

/**
 * `npm run differential`: runs random sequences of calls on the contracts and on the simulation's model of them, and
 * compares the results and production's books. Exits with 1 at a difference.
 *
 *   --sequences N   number of sequences, 200 by default
 *   --seed S        the first seed; the others follow it
 *   --tell          prints every call
 *   --report        writes the figures into docs/reliability.md
 */
const { values } = parseArgs({
  options: {
    sequences: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
    tell: { type: 'boolean', default: false },
    report: { type: 'boolean', default: false },
  },
});
const [sequences, firstSeed] = [Number(values.sequences), Number(values.seed)];
if (!Number.isSafeInteger(sequences) || sequences < 1)
  throw new RangeError('--sequences must be a whole number above 0');

const [chain, database] = await Promise.all([startRealChain(), testDatabase()]);
let closed: Promise<unknown> | undefined;
const close = () => (closed ??= Promise.all([chain.close(), database.close()]));
const stop = () => void close().finally(() => process.exit(130));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, stop);
const results: ModelComparison[] = [];
const startedMs = performance.now();
try {
  for (let seed = firstSeed; seed < firstSeed + sequences; seed += 1) {
    const tell = values.tell ? (line: string) => console.log(line) : undefined;
    const result = await compareSequence(chain, database.db, seed, tell);
    results.push(result);
    for (const difference of result.differences) console.error(`sequence ${seed}: ${difference}`);
  }
} finally {
  await close();
}
const seconds = (performance.now() - startedMs) / 1_000;
const steps = results.reduce((sum, result) => sum + result.steps, 0);
const done = results.reduce((sum, { succeeded }) => sum + succeeded, 0);
const outcomes = new Set(results.flatMap((result) => [...result.outcomes.keys()]));
const different = results.filter(({ differences }) => differences.length > 0).length;
console.log(
  `${results.length} sequences in ${seconds.toFixed(0)} s: ${steps} calls, ${done} of them done, ` +
    `${outcomes.size} kinds of outcomes, ${different} sequences with differences`,
);
if (values.tell) for (const outcome of [...outcomes].sort()) console.log(outcome);
if (values.report) await writeFigures({ firstSeed, seconds, results });
process.exitCode = different === 0 ? 0 : 1;
