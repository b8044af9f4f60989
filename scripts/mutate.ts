// Changes the contracts in one place at a time and looks whether a test fails.
//   npm run mutate                        every mutant that has no result yet
//   npm run mutate -- --sample 60         the first 60 of a fixed shuffle
//   npm run mutate -- --minutes 10        stops taking new ones after that time
//   npm run mutate -- --file base/Access  of files whose name contains this
//   npm run mutate -- --invariants        has survivors of the tests tried by the invariants too
// Results go to contracts/mutation/score.json as they come; a result counts until its source file changes.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { applyMutant, findMutants, type Mutant } from './mutants.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const source = join(root, 'contracts', 'src');
const scoreFile = join(root, 'contracts', 'mutation', 'score.json');
const workers = Math.min(2, availableParallelism());
/** A run of all tests takes 15 s on an idle machine. */
const timeoutMs = 600_000;
/** Few runs kill most; what survives them is tried with as many as the tests themselves make. */
const rounds = [
  { by: 'tests', fuzzRuns: '16', paths: ['--no-match-path', 'test/{invariant,gas}/*'] },
  { by: 'tests', fuzzRuns: '256', paths: ['--no-match-path', 'test/{invariant,gas}/*'] },
] as const;
const invariantRound = {
  by: 'invariants',
  fuzzRuns: '256',
  paths: ['--match-path', 'test/invariant/*'],
} as const;

type Verdict = 'killed' | 'invalid' | 'survived';
interface Result {
  readonly id: string;
  readonly before: string;
  readonly after: string;
  readonly verdict: Verdict;
  /** What killed it: the first failing test, or why it could not be compiled or run to its end. */
  readonly by: string;
}
interface Score {
  readonly mutants: number;
  readonly tried: number;
  readonly valid: number;
  readonly killed: number;
  readonly percent: number;
  readonly sources: Readonly<Record<string, string>>;
  readonly results: readonly Result[];
}

const hash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);

function readSources(): ReadonlyMap<string, string> {
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' });
  const own = files.filter((file) => file.endsWith('.sol') && !file.startsWith('interfaces'));
  return new Map(own.sort().map((file) => [file, readFileSync(join(source, file), 'utf8')]));
}

function readScore(): Score | undefined {
  return existsSync(scoreFile) ? (JSON.parse(readFileSync(scoreFile, 'utf8')) as Score) : undefined;
}

function writeScore(
  mutants: number,
  sources: ReadonlyMap<string, string>,
  results: ReadonlyMap<string, Result>,
): void {
  const all = [...results.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const valid = all.filter(({ verdict }) => verdict !== 'invalid').length;
  const killed = all.filter(({ verdict }) => verdict === 'killed').length;
  const percent = valid === 0 ? 0 : Math.floor((killed * 1_000) / valid) / 10;
  const hashes = Object.fromEntries([...sources].map(([file, text]) => [file, hash(text)]));
  const score: Score = { mutants, tried: all.length, valid, killed, percent, sources: hashes, results: all };
  mkdirSync(dirname(scoreFile), { recursive: true });
  writeFileSync(scoreFile, `${JSON.stringify(score, null, 2)}\n`);
}

/** A copy of the contracts in which one mutant at a time lives. */
function makeCopy(): string {
  const copy = mkdtempSync(join(tmpdir(), 'florin-mutants-'));
  const skipped = ['out', 'cache'].map((name) => join(root, 'contracts', name));
  const filter = (path: string): boolean => !skipped.includes(path);
  cpSync(join(root, 'contracts'), join(copy, 'contracts'), { recursive: true, filter });
  cpSync(join(root, 'scripts'), join(copy, 'scripts'), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

function runForge(
  copy: string,
  args: readonly string[],
  fuzzRuns: string,
): Promise<{ code: number; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(
      process.execPath,
      ['scripts/forge.cjs', 'test', '--dynamic-test-linking', '--threads', '1', ...args],
      {
        cwd: copy,
        env: { ...process.env, FOUNDRY_FUZZ_RUNS: fuzzRuns, FOUNDRY_DENY: 'never' },
        stdio: ['ignore', 'pipe', 'pipe'],
        detached: true,
      },
    );
    let output = '';
    const timer = setTimeout(() => {
      output += '\ntime-out';
      // forge is a child of the child: the group goes as a whole.
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    }, timeoutMs);
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (text: Buffer) => (output += text.toString()));
    child.on('error', reject);
    child.on('close', (code) => {
      clearTimeout(timer);
      resolve({ code: code ?? 1, output });
    });
  });
}

function judge(output: string): Pick<Result, 'verdict' | 'by'> {
  if (output.endsWith('time-out')) return { verdict: 'killed', by: 'time-out' };
  const failed = /\[FAIL[^\n]*\] (\w+)\(/.exec(output)?.[1] ?? /\[FAIL[^\n]*/.exec(output)?.[0].slice(0, 80);
  if (failed !== undefined) return { verdict: 'killed', by: failed };
  if (/Compiler run failed|Error: Compilation failed/.test(output))
    return { verdict: 'invalid', by: 'the compiler' };
  throw new Error(`forge ended without a verdict:\n${output.slice(-2_000)}`);
}

async function tryMutant(
  copy: string,
  text: string,
  mutant: Mutant,
  withInvariants: boolean,
): Promise<Result> {
  const path = join(copy, 'contracts', 'src', mutant.file);
  const named = { id: mutant.id, before: mutant.before, after: mutant.after };
  writeFileSync(path, applyMutant(text, mutant));
  try {
    for (const { paths, fuzzRuns } of withInvariants ? [...rounds, invariantRound] : rounds) {
      const { code, output } = await runForge(copy, ['--fail-fast', ...paths], fuzzRuns);
      if (code !== 0) return { ...named, ...judge(output) };
    }
    return { ...named, verdict: 'survived', by: '' };
  } finally {
    writeFileSync(path, text);
  }
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      sample: { type: 'string' },
      minutes: { type: 'string' },
      file: { type: 'string' },
      invariants: { type: 'boolean', default: false },
    },
  });
  const sources = readSources();
  const mutants = [...sources].flatMap(([file, text]) => findMutants(file, text));
  const earlier = readScore();
  const results = new Map(
    (earlier?.results ?? [])
      .filter(({ id }) => {
        const [file = ''] = id.split(':');
        return earlier?.sources[file] === hash(sources.get(file) ?? '');
      })
      .map((result) => [result.id, result]),
  );
  const shuffled = mutants.toSorted((a, b) => (hash(a.id) < hash(b.id) ? -1 : 1));
  const queue = shuffled
    .filter(({ file }) => file.includes(values.file ?? ''))
    .slice(0, values.sample === undefined ? undefined : Number(values.sample))
    .filter(({ id }) => !results.has(id));
  const deadline =
    values.minutes === undefined
      ? Number.POSITIVE_INFINITY
      : performance.now() + Number(values.minutes) * 60_000;
  console.log(`${mutants.length} mutants, ${queue.length} to try`);
  const copies = Array.from({ length: workers }, makeCopy);
  try {
    await Promise.all(
      copies.map(async (copy) => {
        const unchanged = await runForge(
          copy,
          [...rounds[0].paths, '--match-contract', 'ConstructTest'],
          '1',
        );
        if (unchanged.code !== 0)
          throw new Error(`the tests fail without a mutant:\n${unchanged.output.slice(-2_000)}`);
        for (
          let mutant = queue.shift();
          mutant !== undefined && performance.now() < deadline;
          mutant = queue.shift()
        ) {
          const result = await tryMutant(copy, sources.get(mutant.file) ?? '', mutant, values.invariants);
          results.set(result.id, result);
          writeScore(mutants.length, sources, results);
          console.log(
            `${result.verdict.padEnd(8)}  ${result.id}  ${JSON.stringify(result.before)} -> ${JSON.stringify(result.after)}  ${result.by}`,
          );
        }
      }),
    );
  } finally {
    for (const copy of copies) rmSync(copy, { recursive: true, force: true });
  }
  const { valid, killed, percent } = readScore() ?? { valid: 0, killed: 0, percent: 0 };
  console.log(`${killed} of ${valid} valid mutants killed: ${percent} %`);
}

await main();
