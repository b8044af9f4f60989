import { accessSync, constants, createWriteStream, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Part, PartContext, PartOutcome } from './part.ts';
import { openPlace, sharedPostgres } from './place.ts';
import { endCommands, keptFolder, openRunFolder } from './processes.ts';
import { endLeftovers } from './run-folder.ts';

const logFolder = join(keptFolder, 'log');
const keptLogs = 20;
/** The totals of one process of Node. The total of the run is printed last, once. */
const nodesTotals = /^ℹ (?:tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) .*\n/gm;
const largestNamed = 10;
/**
 * Parts at once: two more than there are cores, for many wait for blocks or a browser. A story costs processor time while it
 * waits, so more at once take longer.
 */
const partsAtOnce = Math.min(availableParallelism(), 4) + 2;

function openLog(): { path: string; write: (text: string) => void } {
  try {
    mkdirSync(logFolder, { recursive: true });
    accessSync(logFolder, constants.W_OK);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    console.error(
      `The log cannot be written to ${logFolder} (${error.code}): run the tests in a clone of your own.`,
    );
    process.exit(1);
  }
  const earlier = readdirSync(logFolder).sort();
  for (const name of earlier.slice(0, Math.max(0, earlier.length + 1 - keptLogs))) {
    rmSync(join(logFolder, name), { force: true });
  }
  const path = join(logFolder, `${new Date().toISOString().replaceAll(':', '-')}.log`);
  const stream = createWriteStream(path);
  return { path, write: (text) => void stream.write(text) };
}

const secondsSince = (ms: number): number => (performance.now() - ms) / 1_000;

interface Timing {
  readonly name: string;
  readonly seconds: number;
  /** Those of the shared PostgreSQL are counted apart. */
  readonly processorSeconds: number;
}

/**
 * Runs parts, several at once, and ends with the names of what failed, where the log is, and `N passed, N failed`. Sets the
 * exit code: 0 only if tests ran and none failed. An interrupted run ends what it has started.
 */
export async function runParts(
  parts: readonly Part[],
  options: { isShown: boolean; atOnce?: number; onPassed?: (part: Part) => void },
): Promise<void> {
  const log = openLog();
  const folder = openRunFolder();
  const postgres = sharedPostgres();
  const waiting = [...parts.filter(({ isLong }) => isLong), ...parts.filter(({ isLong }) => !isLong)];
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
  const timings: Timing[] = [];
  const startedMs = performance.now();
  const work = async (): Promise<void> => {
    const place = openPlace(postgres, write);
    for (let part = waiting.shift(); part !== undefined; part = waiting.shift()) {
      const beganMs = performance.now();
      let processorSeconds = 0;
      const context: PartContext = {
        postgresUrl: postgres.url,
        runFile: place.runFile,
        write,
        addProcessorSeconds: (more) => {
          processorSeconds += more;
        },
      };
      const outcome = await part.run(context).catch((error: unknown): PartOutcome => {
        write(`\n# ${part.name}\n${error instanceof Error ? error.stack : error}\n`);
        return { passed: 0, failed: [`${part.name} (${error})`] };
      });
      if (isInterrupted) return;
      outcomes.push(outcome);
      const timing = { name: part.name, seconds: secondsSince(beganMs), processorSeconds };
      timings.push(timing);
      tell(timing, outcome, parts.length - timings.length);
      if (outcome.failed.length === 0) options.onPassed?.(part);
    }
    outcomes.push({ passed: 0, failed: await place.close() });
  };
  let ofPostgres = 0;
  try {
    await Promise.all(Array.from({ length: options.atOnce ?? partsAtOnce }, work));
  } finally {
    ofPostgres = await postgres.stop();
  }
  if (isInterrupted) return;
  const left = (await endLeftovers(folder)).map((commandLine) => `a process was left behind: ${commandLine}`);
  outcomes.push({ passed: 0, failed: left });
  summarize({ outcomes, timings, ofPostgres, seconds: secondsSince(startedMs), log: log.path });
}

function tell(timing: Timing, { passed, failed }: PartOutcome, left: number): void {
  const sign = failed.length === 0 ? '✔' : '✖';
  const took = `${timing.seconds.toFixed(1)} s (${timing.processorSeconds.toFixed(1)} of a processor)`;
  console.log(`${sign} ${timing.name}: ${passed} passed in ${took}, ${left} parts left`);
  for (const name of failed) console.log(`    ${name}`);
}

function summarize(run: {
  outcomes: readonly PartOutcome[];
  timings: readonly Timing[];
  ofPostgres: number;
  seconds: number;
  log: string;
}): void {
  const ofParts = run.timings.reduce((sum, { processorSeconds }) => sum + processorSeconds, 0);
  console.log(
    `\n${run.seconds.toFixed(0)} s, ${ofParts.toFixed(0)} processor seconds of the parts and ${run.ofPostgres.toFixed(0)} of PostgreSQL. The largest:`,
  );
  const largest = run.timings.toSorted((first, second) => second.processorSeconds - first.processorSeconds);
  for (const { name, processorSeconds } of largest.slice(0, largestNamed))
    console.log(`${processorSeconds.toFixed(1).padStart(7)} s ${name}`);
  const failed = run.outcomes.flatMap((outcome) => outcome.failed);
  const passed = run.outcomes.reduce((sum, outcome) => sum + outcome.passed, 0);
  const skipped = run.outcomes.reduce((sum, outcome) => sum + (outcome.skipped ?? 0), 0);
  if (skipped > 0) console.log(`\n${skipped} skipped: the log says why`);
  if (failed.length > 0)
    console.log(`\nfailed:\n${failed.join('\n')}\n\nThe log of everything is ${run.log}`);
  console.log(`\n${passed} passed, ${failed.length} failed`);
  process.exitCode = failed.length === 0 && passed > 0 ? 0 : 1;
}
