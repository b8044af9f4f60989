import { createWriteStream, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { startTestPostgres } from '../../apps/server/test/harness/database.ts';
import type { Part, PartContext, PartOutcome } from './part.ts';
import { endCommands, openRunFolder, root } from './processes.ts';
import { endLeftovers } from './run-folder.ts';

/** Kept between runs and ignored by git: logs, compiled modules, what the deep run has passed. */
export const keptFolder = join(root, '.test');
const logFolder = join(keptFolder, 'log');
const keptLogs = 20;
/** The totals of one process of Node. The total of the run is printed last, once. */
const nodesTotals = /^ℹ (?:tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) .*\n/gm;
const slowestNamed = 10;
/**
 * Parts at once: three more than there are cores, for many wait for blocks or a browser; few enough for the connections of one
 * PostgreSQL.
 */
const partsAtOnce = Math.min(availableParallelism(), 3) + 3;

/** One PostgreSQL for all parts, started when the first one asks. */
function sharedPostgres(): { url: () => Promise<string>; stop: () => Promise<void> } {
  let server: ReturnType<typeof startTestPostgres> | undefined;
  return {
    async url() {
      server ??= startTestPostgres();
      return (await server).url;
    },
    async stop() {
      await (await server)?.stop();
    },
  };
}

function openLog(): { path: string; write: (text: string) => void } {
  mkdirSync(logFolder, { recursive: true });
  const earlier = readdirSync(logFolder).sort();
  for (const name of earlier.slice(0, Math.max(0, earlier.length + 1 - keptLogs))) {
    rmSync(join(logFolder, name), { force: true });
  }
  const path = join(logFolder, `${new Date().toISOString().replaceAll(':', '-')}.log`);
  const stream = createWriteStream(path);
  return { path, write: (text) => void stream.write(text) };
}

const seconds = (sinceMs: number): number => (performance.now() - sinceMs) / 1_000;

/**
 * Runs parts, several at once, and ends with the names of what failed, where the log is, and `N passed, N failed`. Sets the
 * exit code: 0 only if tests ran and none failed. An interrupted run ends what it has started.
 */
export async function runParts(
  parts: readonly Part[],
  options: { isShown: boolean; atOnce?: number; onPassed?: (part: Part) => void },
): Promise<void> {
  const folder = openRunFolder();
  const log = openLog();
  const postgres = sharedPostgres();
  const waiting = [...parts];
  let isInterrupted = false;
  const interrupt = async (): Promise<void> => {
    isInterrupted = true;
    waiting.length = 0;
    await Promise.all([endCommands(folder), postgres.stop()]);
    console.log(`\ninterrupted; the log is ${log.path}`);
    process.exit(130);
  };
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, () => void interrupt());
  // The launcher was killed, so that no signal reaches this process any more.
  process.once('disconnect', () => void interrupt());
  process.channel?.unref();

  const write = (text: string): void => {
    log.write(text);
    if (options.isShown) process.stdout.write(text.replaceAll(nodesTotals, ''));
  };
  const outcomes: PartOutcome[] = [];
  const timings: { name: string; took: number }[] = [];
  const context: PartContext = { postgresUrl: postgres.url, write };
  const startedMs = performance.now();
  const work = async (): Promise<void> => {
    for (let part = waiting.shift(); part !== undefined; part = waiting.shift()) {
      const beganMs = performance.now();
      const outcome = await part.run(context).catch((error: unknown): PartOutcome => {
        write(`\n# ${part.name}\n${error instanceof Error ? error.stack : error}\n`);
        return { passed: 0, failed: [`${part.name} (${error})`] };
      });
      if (isInterrupted) return;
      outcomes.push(outcome);
      timings.push({ name: part.name, took: seconds(beganMs) });
      tell(part, outcome, seconds(beganMs), parts.length - outcomes.length);
      if (outcome.failed.length === 0) options.onPassed?.(part);
    }
  };
  try {
    await Promise.all(Array.from({ length: options.atOnce ?? partsAtOnce }, work));
  } finally {
    await postgres.stop();
  }
  if (isInterrupted) return;
  const left = (await endLeftovers(folder)).map((commandLine) => `a process was left behind: ${commandLine}`);
  outcomes.push({ passed: 0, failed: left });
  summarize({ outcomes, timings, took: seconds(startedMs), log: log.path });
}

function tell(part: Part, { passed, failed }: PartOutcome, took: number, left: number): void {
  const sign = failed.length === 0 ? '✔' : '✖';
  console.log(`${sign} ${part.name}: ${passed} passed in ${took.toFixed(1)} s, ${left} parts left`);
  for (const name of failed) console.log(`    ${name}`);
}

function summarize(run: {
  outcomes: readonly PartOutcome[];
  timings: readonly { name: string; took: number }[];
  took: number;
  log: string;
}): void {
  const slowest = run.timings.toSorted((first, second) => second.took - first.took).slice(0, slowestNamed);
  console.log(`\nslowest of ${run.took.toFixed(0)} s:`);
  for (const { name, took } of slowest) console.log(`${took.toFixed(1).padStart(7)} s ${name}`);
  const failed = run.outcomes.flatMap((outcome) => outcome.failed);
  const passed = run.outcomes.reduce((sum, outcome) => sum + outcome.passed, 0);
  if (failed.length > 0)
    console.log(`\nfailed:\n${failed.join('\n')}\n\nThe log of everything is ${run.log}`);
  console.log(`\n${passed} passed, ${failed.length} failed`);
  process.exitCode = failed.length === 0 && passed > 0 ? 0 : 1;
}
