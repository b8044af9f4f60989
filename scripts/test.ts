import { type ChildProcess, spawn } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { startTestPostgres } from '../apps/server/test/harness/database.ts';

/**
 * Runs every test that CI runs and prints one closing line, `N passed, N failed`, over all suites. With arguments, runs
 * only the suites or files named. Exits 1 when anything failed or when no test ran.
 */

const root = fileURLToPath(new URL('..', import.meta.url));
const node = process.execPath;
const flags = ['--conditions=source', '--disable-warning=ExperimentalWarning'];
/**
 * Files that are tested at once: one more than there are cores, for many wait for blocks or a browser (with two of them on
 * two cores a sixth of the time was idle); few enough for the connections of one PostgreSQL.
 */
const filesAtOnce = Math.min(availableParallelism(), 3) + 1;

/** What an interrupted run has to end, besides its child. */
let stopPostgres: (() => Promise<void>) | undefined;
let running: ChildProcess | undefined;

interface Count {
  passed: number;
  failed: number;
}

/** How long each part took, printed at the end. */
const timings: string[] = [];
/** What failed, by name, printed at the end: a long log is often kept by its last lines only. */
const failures: string[] = [];

async function timed<T>(name: string, work: () => Promise<T>): Promise<T> {
  const startedMs = performance.now();
  try {
    return await work();
  } finally {
    timings.push(`${((performance.now() - startedMs) / 1_000).toFixed(1).padStart(7)} s ${name}`);
  }
}

/** Runs a command, shows its output as it comes, and gives it back with the exit code. */
function run(
  command: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<{ code: number; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    running = child;
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8');
      stream.on('data', (text: string) => {
        output += text;
        process.stdout.write(text);
      });
    }
    child.on('error', reject);
    child.on('close', (code) => resolve({ code: code ?? 1, output }));
  });
}

/** Checks that either pass or fail as a whole count as one test. */
async function whole(
  name: string,
  command: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<Count> {
  console.log(`\n# ${name}`);
  const { code } = await timed(`  ${name}`, () => run(command, args, env));
  if (code === 0) return { passed: 1, failed: 0 };
  failures.push(name);
  return { passed: 0, failed: 1 };
}

/** Notes the lines of a failed suite's output that name what failed, or else the suite. */
function noteFailures(suite: string, output: string, line: RegExp): void {
  const named = [...new Set(Array.from(output.matchAll(line), (found) => found[0]))];
  failures.push(...(named.length > 0 ? named : [suite]));
}

async function checks(): Promise<Count> {
  const counts = [
    await whole('types', node, ['node_modules/typescript/bin/tsc', '-p', '.']),
    await whole('types of the pages', node, ['node_modules/typescript/bin/tsc', '-p', 'apps/checkout']),
    await whole('format and lint', 'node_modules/.bin/biome', ['check', '--error-on-warnings']),
    await whole('unused code and dependencies', node, ['node_modules/knip/bin/knip.js', '--no-progress']),
    await whole('generated files are fresh', node, [...flags, 'scripts/generate.ts', '--check']),
  ];
  return sum(counts);
}

async function contracts(): Promise<Count> {
  console.log('\n# contracts');
  const { code, output } = await run(node, ['scripts/forge.cjs', 'test']);
  const totals = /Ran \d+ test suites?.*?: (\d+) tests? passed, (\d+) failed/.exec(output);
  if (code !== 0 || totals === null) noteFailures('contracts', output, /^\[FAIL.*$/gm);
  if (totals === null) return { passed: 0, failed: 1 };
  const count = { passed: Number(totals[1]), failed: Number(totals[2]) };
  const snapshot = ['scripts/forge.cjs', 'snapshot', '--check'];
  return sum([
    code === 0 ? count : { ...count, failed: Math.max(1, count.failed) },
    await whole('gas is as committed', node, snapshot, { FOUNDRY_PROFILE: 'gas' }),
    await whole('contracts are formatted', node, ['scripts/forge.cjs', 'fmt', '--check']),
  ]);
}

async function testFiles(): Promise<string[]> {
  const files: string[] = [];
  for (const folder of ['packages', 'apps', 'world', 'lab']) {
    for (const file of await readdir(`${root}${folder}`, { recursive: true })) {
      // A bench has a package of its own, with somebody else's tests in it.
      if (file.endsWith('.test.ts') && !file.includes('node_modules/')) files.push(`${folder}/${file}`);
    }
  }
  return files.sort();
}

async function nodeTests(files: readonly string[]): Promise<Count> {
  console.log(`\n# node: ${files.length} files`);
  const postgres = await startTestPostgres();
  stopPostgres = () => postgres.stop();
  try {
    const reporter = ['spec', './scripts/slow-files.ts'].flatMap((name) => [
      `--test-reporter=${name}`,
      '--test-reporter-destination=stdout',
    ]);
    const { code, output } = await run(
      node,
      [...flags, '--test', `--test-concurrency=${filesAtOnce}`, ...reporter, ...files],
      {
        FLORIN_TEST_POSTGRES: postgres.url,
      },
    );
    const number = (name: string) => Number(new RegExp(`^ℹ ${name} (\\d+)$`, 'm').exec(output)?.[1] ?? 0);
    const passed = number('pass');
    const failed = number('fail') + number('cancelled');
    if (code === 0 && passed > 0) return { passed, failed };
    const summary = output.slice(Math.max(0, output.lastIndexOf('✖ failing tests:')));
    noteFailures('node', summary, /^test at .*\n.*$/gm);
    return { passed, failed: Math.max(1, failed) };
  } finally {
    stopPostgres = undefined;
    await postgres.stop();
  }
}

/** What a change breaks under faults; longer runs are `npm run simulate`. */
async function simulation(): Promise<Count> {
  const simulate = [...flags, 'lab/simulation/simulate.ts'];
  return sum([
    await whole('simulated histories', node, [...simulate, '--histories', '2000', '--minutes', '6']),
    await whole('seeded bugs are caught', node, [
      ...simulate,
      ...['--bug', 'all', '--histories', '800', '--catches', '1'],
    ]),
    await whole('the model does as the contracts do', node, [
      ...flags,
      ...['lab/differential/differential.ts', '--sequences', '250'],
    ]),
  ]);
}

function sum(counts: readonly Count[]): Count {
  return counts.reduce(
    (total, count) => ({ passed: total.passed + count.passed, failed: total.failed + count.failed }),
    { passed: 0, failed: 0 },
  );
}

const suites: Record<string, () => Promise<Count>> = {
  checks,
  contracts,
  node: async () => nodeTests(await testFiles()),
  simulation,
};

async function main(): Promise<void> {
  const wanted = process.argv.slice(2);
  const files = wanted.filter((name) => name.endsWith('.test.ts'));
  const names = wanted.filter((name) => !name.endsWith('.test.ts'));
  const unknown = names.filter((name) => suites[name] === undefined);
  if (unknown.length > 0) {
    console.error(`unknown suite ${unknown.join(', ')}: the suites are ${Object.keys(suites).join(', ')}`);
    process.exit(2);
  }
  const chosen = wanted.length === 0 ? Object.keys(suites) : names;
  const counts: Count[] = [];
  for (const name of chosen)
    counts.push(await timed(name, async () => (await suites[name]?.()) ?? { passed: 0, failed: 1 }));
  if (files.length > 0) counts.push(await timed('files', () => nodeTests(files)));
  console.log(`\n${timings.join('\n')}`);
  if (failures.length > 0) console.log(`\nfailed:\n${failures.join('\n')}`);
  const { passed, failed } = sum(counts);
  console.log(`\n${passed} passed, ${failed} failed`);
  process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
}

/** An interrupted run leaves nothing behind. */
async function interrupted(): Promise<void> {
  running?.kill('SIGTERM');
  await stopPostgres?.();
  process.exit(130);
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => void interrupted());
await main();
