import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { startTestPostgres } from '../harness/database.ts';
import { bugs } from './bugs.ts';
import type { HistoryResult } from './history.ts';
import { writeReport } from './report.ts';
import { Team } from './team.ts';

/**
 * `npm run simulate`: lives through the kept seeds and many others, or through seeded bugs until each is caught.
 *
 *   --histories N   how many, 2,000 unless told otherwise
 *   --minutes M     no longer than that
 *   --seed S        the first seed; the others follow it
 *   --workers N     processes at once, 2 unless told otherwise
 *   --bug NAME      with this seeded bug, or `all`: exits with 1 when one is not caught
 *   --catches N     how often a bug is to be caught, 3 unless told otherwise: so that a median means something
 *   --tell          prints every event of the first seed, and no more
 *   --report        writes the figures into docs/reliability.md
 */
const { values } = parseArgs({
  options: {
    histories: { type: 'string', default: '2000' },
    minutes: { type: 'string', default: '600' },
    seed: { type: 'string', default: '1' },
    workers: { type: 'string', default: '2' },
    bug: { type: 'string' },
    catches: { type: 'string', default: '3' },
    tell: { type: 'boolean', default: false },
    report: { type: 'boolean', default: false },
  },
});
const histories = wholeNumber('histories', values.histories);
const limitMs = wholeNumber('minutes', values.minutes) * 60_000;
const firstSeed = wholeNumber('seed', values.seed);
const workers = wholeNumber('workers', values.workers);
const catches = wholeNumber('catches', values.catches);

function wholeNumber(name: string, text: string): number {
  const number = Number(text);
  if (Number.isSafeInteger(number) && number > 0) return number;
  throw new RangeError(`--${name} takes a whole number above 0, not ${text}`);
}

function* seedsFrom(first: number, count: number): Iterable<number> {
  for (let seed = first; seed < first + count; seed += 1) yield seed;
}

async function keptSeeds(): Promise<number[]> {
  const text = await readFile(new URL('./seeds.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { seeds: { seed: number }[] }).seeds.map(({ seed }) => seed);
}

/** Lives through histories without a bug. True when all of them were good. */
async function search(): Promise<boolean> {
  const seeds = new Set([...(await keptSeeds()), ...seedsFrom(firstSeed, histories)]);
  const results: HistoryResult[] = [];
  const startedMs = performance.now();
  const team = await Team.start({ workers });
  try {
    await team.live(seeds, (result) => {
      results.push(result);
      if (result.problems.length > 0) tellProblems(result);
      return performance.now() - startedMs < limitMs;
    });
  } finally {
    await team.close();
  }
  const seconds = (performance.now() - startedMs) / 1000;
  const bad = results.filter(({ problems }) => problems.length > 0);
  const faults = sum(results.map(({ faultCounts }) => sum(Object.values(faultCounts))));
  const reorgs = sum(results.map(({ reorgCount }) => reorgCount));
  console.log(
    `${results.length} histories in ${seconds.toFixed(0)} s (${((results.length / seconds) * 60).toFixed(0)} a minute): ` +
      `${sum(results.map(({ eventCount }) => eventCount))} events, ${faults} faults, ${reorgs} reorgs, ${bad.length} bad`,
  );
  if (values.report) await writeReport({ results, seconds, workers, firstSeed });
  return bad.length === 0;
}

function tellProblems({ seed, problems, story }: HistoryResult): void {
  console.error(`\nseed ${seed}: ${problems.length} problems`);
  for (const problem of problems) console.error(`  ${problem}`);
  console.error(`  ${JSON.stringify(story)}`);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** Lives through histories with a seeded bug. True when it was caught. */
async function hunt(bugName: string): Promise<{ name: string; isCaught: boolean; counts: number[] }> {
  const team = await Team.start({ workers, bugName });
  const counts: number[] = [];
  let since = 0;
  let lived = 0;
  let sample = '';
  try {
    await team.live(seedsFrom(firstSeed, histories), (result) => {
      lived += 1;
      since += 1;
      if (result.problems.length > 0) {
        counts.push(since);
        since = 0;
        sample ||= `seed ${result.seed}: ${result.problems[0] ?? ''}`;
      }
      return counts.length < catches;
    });
  } finally {
    await team.close();
  }
  const median = counts.toSorted((a, b) => a - b)[counts.length >> 1];
  const figure = median === undefined ? 'not caught' : `caught after ${median} (median of ${counts.length})`;
  console.log(`${bugName.padEnd(26)} ${figure}, ${lived} lived; ${sample.slice(0, 120)}`);
  return { name: bugName, isCaught: counts.length > 0, counts };
}

async function huntAll(name: string): Promise<boolean> {
  const names = name === 'all' ? Object.keys(bugs) : [name];
  const hunted = [];
  for (const each of names) hunted.push(await hunt(each));
  const caught = hunted.filter(({ isCaught }) => isCaught).length;
  console.log(`${caught} of ${hunted.length} seeded bugs caught`);
  if (values.report) await writeReport({ hunted });
  return caught === hunted.length;
}

/** Prints one history. True when it was good. */
async function tell(): Promise<boolean> {
  const team = await Team.start({
    workers: 1,
    tells: true,
    ...(values.bug === undefined ? {} : { bugName: values.bug }),
  });
  let isGood = false;
  try {
    await team.live([firstSeed], (result) => {
      isGood = result.problems.length === 0;
      if (!isGood) tellProblems(result);
      return false;
    });
  } finally {
    await team.close();
  }
  return isGood;
}

async function run(): Promise<boolean> {
  if (values.tell) return tell();
  return values.bug === undefined ? search() : huntAll(values.bug);
}

const server = await startTestPostgres({ autovacuum: 'off', deadlock_timeout: '10ms' });
process.env['FLORIN_TEST_POSTGRES'] = server.url;

/** An interrupted run leaves no server behind; workers end with their channel. */
async function interrupted(): Promise<void> {
  await server.stop();
  process.exit(130);
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => void interrupted());
try {
  process.exitCode = (await run()) ? 0 : 1;
} finally {
  await server.stop();
}
