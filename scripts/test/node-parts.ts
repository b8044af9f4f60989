import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Part, type PartContext, type PartOutcome, runLogged } from './part.ts';
import { root } from './processes.ts';
import type { Result } from './reporter.ts';

export const node = process.execPath;
export const nodeFlags = ['--conditions=source', '--disable-warning=ExperimentalWarning'];

/** Many short-lived objects: with a large young generation, they cost fewer collections. */
const testFlags = [...nodeFlags, '--max-semi-space-size=64'];

/** Files in one process: starting Node and loading the rooms takes 1.5 processor seconds, longer than most files take. */
const rulesAtOnce = 48;
const storiesAtOnce = 8;
const longAtOnce = 2;
const isStory = (file: string): boolean => file.startsWith('apps/server/test/');
/** Start whole programs, and load little themselves. */
const isProgram = (file: string): boolean => /^(world|lab)\//.test(file);
/** What takes most processor time, longest first: ten seconds and more. It runs before all others. */
const longest = [
  // Builds the documentation, which the browser then finds: its tests wait for it in the same process.
  ...['http/docs/docs-door', 'browser/docs'],
  // The acts of the local world wait more than they work: begun last, they would run alone at the end.
  ...['browser/safety', 'acts/acts'],
  ...['browser/states', 'browser/wallet-ways', 'browser/two-devices', 'browser/pay'],
  ...['life/kill', 'life/agent', 'browser/without-wallet', 'simulation', 'life/deposit-policy'],
];
const rankOf = (file: string): number => longest.findIndex((name) => file.endsWith(`/${name}.test.ts`));
/** A test that fails may leave something open that keeps its process alive. */
const silenceLimitMs = 15 * 60_000;
/** What takes long and is run before a release: `npm run test:deep`. */
export const isDeep = (file: string): boolean => file.endsWith('.deep.test.ts');

/** Every test file of the checkout. */
export async function findTestFiles(): Promise<string[]> {
  const files: string[] = [];
  for (const folder of ['packages', 'apps', 'world', 'lab', 'scripts']) {
    for (const file of await readdir(`${root}${folder}`, { recursive: true })) {
      // A bench has a package of its own, whose dependencies contain tests.
      if (file.endsWith('.test.ts') && !file.includes('node_modules/')) files.push(`${folder}/${file}`);
    }
  }
  return files.sort();
}

/**
 * The parts that run these files: the slow ones first; neighbours together, stories before rules, because stories wait;
 * programs last, because parts that take seconds end at about the same time.
 */
export function nodeParts(files: readonly string[], env: Readonly<Record<string, string>> = {}): Part[] {
  const slow = files.filter((file) => rankOf(file) >= 0).toSorted((a, b) => rankOf(a) - rankOf(b));
  const others = files.filter((file) => rankOf(file) < 0);
  const rules = others.filter((file) => !isStory(file) && !isProgram(file));
  return [
    ...batchesOf(slow, longAtOnce),
    ...batchesOf(others.filter(isStory), storiesAtOnce),
    ...batchesOf(rules, rulesAtOnce),
    ...batchesOf(others.filter(isProgram), 1),
  ].map((batch) => {
    const [from = '', to = ''] = [batch[0], batch.at(-1)];
    return nodePart(batch.length === 1 ? from : `${from} to ${to}`, batch, env);
  });
}

function batchesOf(files: readonly string[], size: number): (readonly string[])[] {
  return Array.from({ length: Math.ceil(files.length / size) }, (_none, index) =>
    files.slice(index * size, (index + 1) * size),
  );
}

function nodePart(name: string, files: readonly string[], env: Readonly<Record<string, string>>): Part {
  return {
    name,
    async run(context) {
      const folder = await mkdtemp(join(tmpdir(), 'florin-test-'));
      try {
        return await runFiles(context, { name, files, env, resultFile: join(folder, 'results') });
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
  };
}

async function runFiles(
  context: PartContext,
  job: { name: string; files: readonly string[]; env: Readonly<Record<string, string>>; resultFile: string },
): Promise<PartOutcome> {
  const args = [
    ...testFlags,
    ...['--test-reporter=spec', '--test-reporter-destination=stdout'],
    ...['--test-reporter=./scripts/test/reporter.ts', `--test-reporter-destination=${job.resultFile}`],
    ...['scripts/test/group.ts', ...job.files],
  ];
  const env = { ...job.env, FLORIN_TEST_POSTGRES: await context.postgresUrl() };
  const { code } = await runLogged(context, job.name, node, args, { env, silenceLimitMs });
  const results = await readResults(job.resultFile);
  const failed = results.flatMap((result) => (result.kind === 'failed' ? [result.name] : []));
  const ended = results.flatMap((result) => (result.kind === 'file' ? [result.file] : []));
  for (const file of job.files) if (!ended.includes(file)) failed.push(`${file}: it did not run to its end`);
  if (code !== 0 && failed.length === 0) failed.push(`${job.name}: its process ended with ${code}`);
  return { passed: results.filter(({ kind }) => kind === 'passed').length, failed };
}

async function readResults(file: string): Promise<Result[]> {
  // A process that was killed before its first test has written none.
  const text = existsSync(file) ? await readFile(file, 'utf8') : '';
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Result);
}
