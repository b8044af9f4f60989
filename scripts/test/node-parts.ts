import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { type Outcome, type Part, type PartContext, runLogged } from './part.ts';
import { root } from './processes.ts';
import type { Result } from './reporter.ts';

export const node = process.execPath;
export const nodeFlags = ['--conditions=source', '--disable-warning=ExperimentalWarning'];

/** Files of rules in one process: few enough that three processes end at about the same time. */
const rulesAtOnce = 10;
/** Stories, browsers and whole worlds take seconds each, so that a process of their own costs them little. */
const isAlone = (file: string): boolean => /^(apps\/server\/test|world|lab)\//.test(file);
/** What takes long and is run before a release: `npm run test:deep`. */
export const isDeep = (file: string): boolean => file.endsWith('.deep.test.ts');

/** Every test file of the checkout. */
export async function findTestFiles(): Promise<string[]> {
  const files: string[] = [];
  for (const folder of ['packages', 'apps', 'world', 'lab']) {
    for (const file of await readdir(`${root}${folder}`, { recursive: true })) {
      // A bench has a package of its own, with somebody else's tests in it.
      if (file.endsWith('.test.ts') && !file.includes('node_modules/')) files.push(`${folder}/${file}`);
    }
  }
  return files.sort();
}

/** The parts that run these files: the slow ones first, each alone; rules of neighbouring rooms together. */
export function nodeParts(files: readonly string[], env: Readonly<Record<string, string>> = {}): Part[] {
  const alone = files.filter(isAlone).map((file) => nodePart(file, [file], env));
  const rules = files.filter((file) => !isAlone(file));
  for (let first = 0; first < rules.length; first += rulesAtOnce) {
    const batch = rules.slice(first, first + rulesAtOnce);
    const [from = '', to = ''] = [batch[0], batch.at(-1)];
    const name = batch.length === 1 ? from : `${from} to ${dirname(to)}/${basename(to)}`;
    alone.push(nodePart(name, batch, env));
  }
  return alone;
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
): Promise<Outcome> {
  const args = [
    ...nodeFlags,
    ...['--test-reporter=spec', '--test-reporter-destination=stdout'],
    ...['--test-reporter=./scripts/test/reporter.ts', `--test-reporter-destination=${job.resultFile}`],
    ...['scripts/test/group.ts', ...job.files],
  ];
  const env = {
    ...job.env,
    FLORIN_TEST_POSTGRES: await context.postgresUrl(),
    // What one process has compiled, the next one loads.
    NODE_COMPILE_CACHE: join(root, '.test', 'compiled'),
  };
  const { code } = await runLogged(context, job.name, node, args, env);
  const results = await readResults(job.resultFile);
  const failed = results.flatMap((result) => (result.kind === 'failed' ? [result.name] : []));
  const ended = results.flatMap((result) => (result.kind === 'file' ? [result.file] : []));
  for (const file of job.files) if (!ended.includes(file)) failed.push(`${file}: it did not run to its end`);
  if (code !== 0 && failed.length === 0) failed.push(`${job.name}: its process ended with ${code}`);
  return { passed: results.filter(({ kind }) => kind === 'passed').length, failed };
}

async function readResults(file: string): Promise<Result[]> {
  const text = await readFile(file, 'utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Result);
}
