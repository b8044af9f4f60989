import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startTestPostgres } from '@florin/server/testing-database';
import { bugs } from './bugs.ts';
import type { HistoryResult } from './history.ts';
import { type BugSearch, writeReport } from './report.ts';
import { sizes } from './scenario.ts';
import { type Version, versionOfSources } from './sources.ts';
import {
  addTo,
  continueWith,
  missingKinds,
  newTally,
  readTally,
  type Tally,
  type VersionCount,
  writeTally,
} from './tally.ts';
import { type Assignment, WorkerPool } from './worker-pool.ts';

/**
 * `npm run simulate`: runs the regression seeds and many others, or histories with seeded bugs until each bug is caught.
 *
 *   --histories N   number of histories, 2,000 by default
 *   --minutes M     time limit
 *   --seed S        the first seed; the others follow it
 *   --workers N     parallel processes, 2 by default
 *   --size SIZE     one size for all, and only the regression seeds of this size: short, middle or long; a mixture by default
 *   --bug NAME      with this seeded bug, or `all`: exits with 1 unless every one is caught
 *   --catches N     catches per bug, 3 by default, so that a median is meaningful
 *   --trace         prints every event of the first seed and runs no other
 *   --report        writes the figures into docs/reliability.md
 *   --resume        continues an earlier run with the same first seed, even a killed one, and adds to its sums;
 *                   histories of other sources are counted separately
 *   --state FILE    the file of the sums with --resume or --report: .test/runs.json of the checkout by default
 */
const { values } = parseArgs({
  options: {
    histories: { type: 'string', default: '2000' },
    minutes: { type: 'string', default: '600' },
    seed: { type: 'string', default: '1' },
    workers: { type: 'string', default: '2' },
    size: { type: 'string' },
    bug: { type: 'string' },
    catches: { type: 'string', default: '3' },
    trace: { type: 'boolean', default: false },
    report: { type: 'boolean', default: false },
    resume: { type: 'boolean', default: false },
    state: { type: 'string' },
  },
});
const histories = wholeNumber('histories', values.histories);
const limitMs = wholeNumber('minutes', values.minutes) * 60_000;
const firstSeed = wholeNumber('seed', values.seed);
const workers = wholeNumber('workers', values.workers);
const catches = wholeNumber('catches', values.catches);
const tallyFile = values.state ?? fileURLToPath(new URL('../../.test/runs.json', import.meta.url));

function wholeNumber(name: string, text: string): number {
  const number = Number(text);
  if (Number.isSafeInteger(number) && number > 0) return number;
  throw new RangeError(`--${name} takes a whole number above 0, not ${text}`);
}

const size = sizes.find((name) => name === values.size);
if (values.size !== undefined && size === undefined)
  throw new RangeError(`--size takes one of ${sizes.join(', ')}, not ${values.size}`);

function* historiesFrom(first: number, count: number): Iterable<Assignment> {
  for (let seed = first; seed < first + count; seed += 1)
    yield size === undefined ? { seed } : { seed, size };
}

async function readRegressionSeeds(): Promise<Assignment[]> {
  const text = await readFile(new URL('./seeds.json', import.meta.url), 'utf8');
  const { seeds } = JSON.parse(text) as { seeds: Required<Assignment>[] };
  const asked = seeds.filter((saved) => size === undefined || saved.size === size);
  return asked.map((saved) => ({ seed: saved.seed, size: saved.size }));
}

/** Histories between two writes of the sums. A killed run repeats at most that many. */
const saveEvery = 50;
let isInterrupted = false;

/**
 * Runs histories without a seeded bug. Returns true when all of them were good, including those of earlier runs of
 * these sources.
 */
async function runHistories(): Promise<boolean> {
  const version = await versionOfSources();
  const stored = values.resume ? await readTally(tallyFile, firstSeed) : undefined;
  const tally = stored ?? newTally(firstSeed);
  const previous = continueWith(tally, version);
  printVersion(version, previous);
  // These sources rerun the seeds that once failed, even if other sources have passed them.
  const regressions = stored === undefined || previous !== undefined ? await readRegressionSeeds() : [];
  const ahead = new Set(tally.ahead);
  const fresh = [...historiesFrom(tally.nextSeed, firstSeed + histories - tally.nextSeed)].filter(
    ({ seed }) => !ahead.has(seed),
  );
  const before = tally.seconds;
  const startedMs = performance.now();
  let finished = 0;
  let bad = 0;
  let cpuMs = 0;
  let saved = Promise.resolve();
  const save = () => {
    tally.seconds = before + (performance.now() - startedMs) / 1_000;
    if (values.resume || values.report) saved = saved.then(() => writeTally(tallyFile, tally));
    return saved;
  };
  const pool = await WorkerPool.start({ workers });
  try {
    await pool.run([...regressions, ...fresh], async (result) => {
      addTo(tally, result);
      finished += 1;
      cpuMs += result.cpuMs;
      if (result.violations.length > 0) {
        bad += 1;
        printViolations(result);
      }
      if (finished % saveEvery === 0) await save();
      return !isInterrupted && performance.now() - startedMs < limitMs;
    });
  } finally {
    await pool.close();
    await save();
  }
  const seconds = tally.seconds - before;
  const { histories: all = 0, events = 0 } = tally.counts;
  console.log(
    `${finished} histories in ${seconds.toFixed(0)} s (${(finished / seconds).toFixed(1)} a second, ` +
      `${(cpuMs / Math.max(1, finished)).toFixed(0)} ms of its worker each); ` +
      `${all} in all: ${events} events, ${tally.bad.length} bad`,
  );
  if (values.report) await writeReport({ tally, workers });
  return bad === 0 && tally.versions.at(-1)?.bad === 0 && coversAllKinds(tally);
}

/** Prints the version that runs, and how many histories of the sums belong to other sources. */
function printVersion({ sources, commit }: Version, previous: VersionCount | undefined): void {
  console.log(`sources ${sources}${commit === '' ? '' : `, commit ${commit}`}`);
  if (previous === undefined) return;
  console.log(
    `the sources have changed: ${previous.histories} histories of ${previous.sources} and those from now on are counted separately`,
  );
}

/** A run of this many histories must include every kind. A smaller run may miss one. */
const coverageMinimum = 2_000;

/** Whether a large run included every kind of history, way to pay and fault. Small runs pass. */
function coversAllKinds(tally: Tally): boolean {
  const isLargeRun = (tally.counts['histories'] ?? 0) >= coverageMinimum && size === undefined;
  const missing = isLargeRun ? missingKinds(tally) : [];
  if (missing.length > 0) console.error(`never occurred: ${missing.join(', ')}`);
  return missing.length === 0;
}

function printViolations({ seed, violations, scenario }: HistoryResult): void {
  console.error(`\nseed ${seed}: ${violations.length} violations`);
  for (const violation of violations) console.error(`  ${violation}`);
  console.error(`  ${JSON.stringify(scenario)}`);
}

/** Runs histories with a seeded bug. */
async function findBug(name: string): Promise<BugSearch> {
  const pool = await WorkerPool.start({ workers, bugName: name });
  const counts: number[] = [];
  let sinceLastCatch = 0;
  let finished = 0;
  let events = 0;
  let cpuMs = 0;
  let example = '';
  try {
    await pool.run(historiesFrom(firstSeed, histories), async (result) => {
      finished += 1;
      sinceLastCatch += 1;
      events += result.eventCount;
      cpuMs += result.cpuMs;
      const caught = result.violations.find(
        (violation) => bugs[name]?.expectedViolation?.test(violation) ?? true,
      );
      if (caught !== undefined) {
        counts.push(sinceLastCatch);
        sinceLastCatch = 0;
        example ||= `seed ${result.seed}: ${caught}`;
      }
      return !isInterrupted && counts.length < catches;
    });
  } finally {
    await pool.close();
  }
  const median = counts.toSorted((a, b) => a - b)[counts.length >> 1];
  const average = (sum: number) => sum / Math.max(1, counts.length);
  const figure =
    median === undefined
      ? 'not caught'
      : `caught after ${median} (median of ${counts.length}), ${average(events).toFixed(0)} events and ` +
        `${(average(cpuMs) / 1_000).toFixed(1)} s of its workers each`;
  console.log(`${name.padEnd(32)} ${figure}, ${finished} histories; ${example.slice(0, 120)}`);
  return { name, isCaught: counts.length > 0, counts, events, cpuSeconds: cpuMs / 1_000 };
}

async function findBugs(name: string): Promise<boolean> {
  const names = name === 'all' ? Object.keys(bugs) : [name];
  const searches = [];
  for (const average of names) searches.push(await findBug(average));
  const caught = searches.filter(({ isCaught }) => isCaught).length;
  console.log(`${caught} of ${searches.length} seeded bugs caught`);
  if (values.report) await writeReport({ searches });
  return caught === searches.length;
}

/** Prints one history. Returns true when it was good. */
async function traceHistory(): Promise<boolean> {
  const pool = await WorkerPool.start({
    workers: 1,
    printsTrace: true,
    ...(values.bug === undefined ? {} : { bugName: values.bug }),
  });
  let isGood = false;
  try {
    await pool.run(historiesFrom(firstSeed, 1), async (result) => {
      isGood = result.violations.length === 0;
      if (!isGood) printViolations(result);
      return false;
    });
  } finally {
    await pool.close();
  }
  return isGood;
}

async function run(): Promise<boolean> {
  if (values.trace) return traceHistory();
  return values.bug === undefined ? runHistories() : findBugs(values.bug);
}

// A round trip over a local socket takes half the time of a loopback connection.
const sockets = await mkdtemp(join(tmpdir(), 'florin-simulate-'));
// If root starts PostgreSQL, it runs as another user.
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

/** An interrupted run ends after its current histories and leaves no server behind. */
function interrupt(): void {
  if (isInterrupted) process.exit(130);
  isInterrupted = true;
  process.exitCode = 130;
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, interrupt);
try {
  const isGood = await run();
  process.exitCode ??= isGood ? 0 : 1;
} finally {
  await stop();
}
