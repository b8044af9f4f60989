import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startTestPostgres } from '../harness/database.ts';
import { bugs } from './bugs.ts';
import type { HistoryResult } from './history.ts';
import { writeReport } from './report.ts';
import { addTo, newTally, readTally, writeTally } from './tally.ts';
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
 *   --resume        goes on where an earlier run from the same seed has stopped, and adds to its sums: they are kept in
 *                   .florin/simulation.json as they grow
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
    resume: { type: 'boolean', default: false },
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

const tallyFile = fileURLToPath(new URL('../../../.florin/simulation.json', import.meta.url));
/** Histories between two writes of the sums. */
const keepEvery = 100;

/** Lives through histories without a bug. True when all of them were good, in earlier runs too. */
async function search(): Promise<boolean> {
  const earlier = values.resume ? await readTally(tallyFile, firstSeed) : undefined;
  const tally = earlier ?? newTally(firstSeed);
  const kept = earlier === undefined ? await keptSeeds() : [];
  const ahead = new Set(tally.ahead);
  const fresh = [...seedsFrom(tally.nextSeed, firstSeed + histories - tally.nextSeed)].filter(
    (seed) => !ahead.has(seed),
  );
  const before = tally.seconds;
  const startedMs = performance.now();
  let lived = 0;
  const keep = async () => {
    tally.seconds = before + (performance.now() - startedMs) / 1_000;
    if (values.resume || values.report) await writeTally(tallyFile, tally);
  };
  const team = await Team.start({ workers });
  try {
    await team.live(new Set([...kept, ...fresh]), async (result) => {
      addTo(tally, result);
      lived += 1;
      if (result.problems.length > 0) tellProblems(result);
      if (lived % keepEvery === 0) await keep();
      return performance.now() - startedMs < limitMs;
    });
  } finally {
    await team.close();
    await keep();
  }
  const seconds = tally.seconds - before;
  const { histories: all = 0, events = 0 } = tally.counts;
  console.log(
    `${lived} histories in ${seconds.toFixed(0)} s (${(lived / seconds).toFixed(1)} a second); ` +
      `${all} in all: ${events} events, ${tally.bad.length} bad`,
  );
  if (values.report) await writeReport({ tally, workers });
  return tally.bad.length === 0;
}

function tellProblems({ seed, problems, story }: HistoryResult): void {
  console.error(`\nseed ${seed}: ${problems.length} problems`);
  for (const problem of problems) console.error(`  ${problem}`);
  console.error(`  ${JSON.stringify(story)}`);
}

/** Lives through histories with a seeded bug. True when it was caught. */
async function hunt(bugName: string): Promise<{ name: string; isCaught: boolean; counts: number[] }> {
  const team = await Team.start({ workers, bugName });
  const counts: number[] = [];
  let since = 0;
  let lived = 0;
  let sample = '';
  try {
    await team.live(seedsFrom(firstSeed, histories), async (result) => {
      lived += 1;
      since += 1;
      const harm = result.problems.find((problem) => bugs[bugName]?.harm?.test(problem) ?? true);
      if (harm !== undefined) {
        counts.push(since);
        since = 0;
        sample ||= `seed ${result.seed}: ${harm}`;
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
    await team.live([firstSeed], async (result) => {
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

// A local socket takes a statement there and back in half the time of a loopback connection.
const sockets = await mkdtemp(join(tmpdir(), 'florin-simulate-'));
// Started by root, PostgreSQL runs as another user.
await chmod(sockets, 0o777);
const server = await startTestPostgres({
  autovacuum: 'off',
  deadlock_timeout: '10ms',
  unix_socket_directories: sockets,
});
process.env['FLORIN_TEST_POSTGRES'] = `${server.url}?host=${encodeURIComponent(sockets)}`;

async function stop(): Promise<void> {
  await server.stop();
  await rm(sockets, { recursive: true, force: true });
}

/** An interrupted run leaves no server behind; workers end with their channel. */
async function interrupted(): Promise<void> {
  await stop();
  process.exit(130);
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => void interrupted());
try {
  process.exitCode = (await run()) ? 0 : 1;
} finally {
  await stop();
}
