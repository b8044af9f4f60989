// Changes the contracts in one place at a time and checks whether a test fails.
//   npm run mutate                        every mutant without a result, then thorough trials of the survivors
//   npm run mutate -- --sample 60         the first 60 of a fixed shuffle
//   npm run mutate -- --minutes 10        starts no new mutant after that time
//   npm run mutate -- --file base/Access  mutants of files whose name contains this
//   npm run mutate -- --again             retries the survivors, after new tests
//   npm run mutate -- --folder /some/dir  the folder of results and copies (.test/mutation of the checkout)
//   npm run mutate -- --report            writes docs/security/mutation.md and runs no mutant
// A result counts until its source file changes. A later run continues an interrupted one.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import {
  openTrial,
  ownFiles,
  readSources,
  root,
  type Sources,
  type Trial,
  type TrialRound,
} from './mutant-trial.ts';
import { applyMutant, findMutants, type Mutant } from './mutants.ts';
import { type MutantResult, type Score, scoreOf, writeMutationReport } from './mutation-report.ts';

/** Numbers of fuzz runs. Two kill most mutants, and each run of all tests takes half a second. */
const [nearRuns, allRuns, moreRuns] = [2, 2, 16];
/** Number of test files that run first: those that have killed most mutants of the same source. */
const nearFiles = 6;
/** Survivors meet the usual number of fuzz runs, and the invariants. */
const lastRuns = 256;

const factoryTests = 'test/factory.t.sol';

/**
 * The factory's tests compare what it makes with the compiled gateway and vault. So they run only where the factory was
 * compiled with a mutant, or nothing was changed.
 */
function isComplete(code: Readonly<Record<string, string>>): boolean {
  return 'GatewayFactory' in code || Object.keys(code).length === 0;
}

/** Every test but the invariants. */
function allTests(code: Readonly<Record<string, string>>): readonly string[] {
  const omitted = ['test/invariant/*', 'test/gas/*', ...(isComplete(code) ? [] : [factoryTests])];
  return ['--no-match-path', `{${omitted.join(',')}}`];
}

const quickRound = (paths: readonly string[], fuzzRuns: number): TrialRound => ({
  ...{ paths, fuzzRuns },
  triesConstants: false,
});

interface Campaign {
  readonly folder: string;
  readonly sources: Sources;
  readonly mutants: readonly Mutant[];
  readonly results: Map<string, MutantResult>;
  /** By code, so that mutants with equal code are tried once. */
  readonly known: Map<string, MutantResult>;
  /** Hashes of the original's code by source file, without and with the optimizer. */
  readonly originals: Map<string, string>;
}

const hash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);

const codeOf = (code: Readonly<Record<string, string>>): string => hash(JSON.stringify(code));

function openCampaign(folder: string): Campaign {
  const sources = readSources();
  const files = ownFiles(sources);
  const mutants = files.flatMap((file) => findMutants(file, sources.get(file) ?? ''));
  const scoreFile = join(folder, 'score.json');
  const earlier = existsSync(scoreFile) ? (JSON.parse(readFileSync(scoreFile, 'utf8')) as Score) : undefined;
  const isCurrent = ({ id }: MutantResult): boolean => {
    const [file = ''] = id.split(':');
    return (
      earlier?.sources[file] === hash(sources.get(file) ?? '') && mutants.some((mutant) => mutant.id === id)
    );
  };
  const results = new Map((earlier?.results ?? []).filter(isCurrent).map((result) => [result.id, result]));
  return { folder, sources, mutants, results, known: new Map(), originals: new Map() };
}

function keep({ folder, sources, mutants, results }: Campaign, result: MutantResult): void {
  results.set(result.id, result);
  const hashes = Object.fromEntries(ownFiles(sources).map((file) => [file, hash(sources.get(file) ?? '')]));
  const text = JSON.stringify(scoreOf(mutants.length, hashes, [...results.values()]), null, 2);
  const path = join(folder, 'score.json');
  // Readers and killed runs never leave or see half a file.
  writeFileSync(`${path}.new`, `${text}\n`);
  renameSync(`${path}.new`, path);
  console.log(
    `${result.verdict.padEnd(8)}  ${result.id}  ${JSON.stringify(result.before)} -> ${JSON.stringify(result.after)}  ${result.by}`,
  );
}

async function originalOf(
  { sources, originals }: Campaign,
  trial: Trial,
  file: string,
  isOptimized: boolean,
): Promise<string> {
  const key = `${file} ${isOptimized}`;
  const known = originals.get(key);
  if (known !== undefined) return known;
  const code = await trial.compile(file, sources.get(file) ?? '', isOptimized);
  if (code === undefined) throw new Error(`${file} does not compile`);
  originals.set(key, codeOf(code));
  return codeOf(code);
}

/** The test files that have killed most mutants of a source file, best first. */
function nearTests(results: ReadonlyMap<string, MutantResult>, file: string): readonly string[] {
  const kills = new Map<string, number>();
  for (const { id, by, verdict } of results.values()) {
    const [test = ''] = by.split(' ');
    if (verdict !== 'killed' || !id.startsWith(`${file}:`) || !test.endsWith('.t.sol')) continue;
    if (test.startsWith('invariant/')) continue;
    kills.set(test, (kills.get(test) ?? 0) + 1);
  }
  return [...kills].toSorted((a, b) => b[1] - a[1]).flatMap(([test]) => [`test/${test}`]);
}

/** One quick trial: killed, invalid, equal to another mutant or to the original, or a survivor for now. */
async function tryQuickly(campaign: Campaign, trial: Trial, mutant: Mutant): Promise<MutantResult> {
  const { sources, results, known } = campaign;
  const text = sources.get(mutant.file) ?? '';
  const named = { id: mutant.id, before: mutant.before, after: mutant.after };
  const code = await trial.compile(mutant.file, applyMutant(text, mutant), false);
  if (code === undefined) return { ...named, verdict: 'invalid', by: 'the compiler' };
  if (codeOf(code) === (await originalOf(campaign, trial, mutant.file, false))) {
    return { ...named, verdict: 'equal', by: 'the same code' };
  }
  const twin = known.get(codeOf(code));
  if (twin !== undefined) return { ...named, verdict: twin.verdict, by: twin.by };
  const near = nearTests(results, mutant.file)
    .filter((test) => test !== factoryTests || isComplete(code))
    .slice(0, nearFiles);
  const [only] = near;
  const glob = near.length === 1 && only !== undefined ? only : `{${near.join(',')}}`;
  const nearRounds = near.length === 0 ? [] : [quickRound(['--match-path', glob], nearRuns)];
  const allRounds = [allRuns, moreRuns].map((runs) => quickRound(allTests(code), runs));
  for (const round of [...nearRounds, ...allRounds]) {
    const { isKilled, by } = await trial.run(code, round);
    if (!isKilled) continue;
    const result = { ...named, verdict: 'killed', by } as const;
    known.set(codeOf(code), result);
    return result;
  }
  return { ...named, verdict: 'survived', by: '' };
}

/**
 * A survivor with the same optimized code as the original changes nothing. The others meet every test as often as in
 * CI.
 */
async function tryThoroughly(campaign: Campaign, trial: Trial, mutant: Mutant): Promise<MutantResult> {
  const text = campaign.sources.get(mutant.file) ?? '';
  const changed = applyMutant(text, mutant);
  const named = { id: mutant.id, before: mutant.before, after: mutant.after };
  const optimized = await trial.compile(mutant.file, changed, true);
  if (optimized === undefined) return { ...named, verdict: 'invalid', by: 'the compiler with its optimizer' };
  if (codeOf(optimized) === (await originalOf(campaign, trial, mutant.file, true))) {
    return { ...named, verdict: 'equal', by: 'the same optimized code' };
  }
  const code = (await trial.compile(mutant.file, changed, false)) ?? {};
  for (const paths of [allTests(code), ['--match-path', 'test/invariant/*']]) {
    const { isKilled, by } = await trial.run(code, { paths, fuzzRuns: lastRuns, triesConstants: true });
    if (isKilled) return { ...named, verdict: 'killed', by };
  }
  return { ...named, verdict: 'survived', by: 'every test' };
}

type Step = (campaign: Campaign, trial: Trial, mutant: Mutant) => Promise<MutantResult>;

/** Gives every trial its next mutant when it has finished one. */
async function work(
  campaign: Campaign,
  trials: readonly Trial[],
  queue: Mutant[],
  step: Step,
  deadline: number,
): Promise<void> {
  await Promise.all(
    trials.map(async (trial) => {
      for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
        if (performance.now() > deadline) return;
        keep(campaign, await step(campaign, trial, mutant));
      }
    }),
  );
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      sample: { type: 'string' },
      minutes: { type: 'string', default: '100000' },
      file: { type: 'string', default: '' },
      again: { type: 'boolean', default: false },
      folder: { type: 'string', default: join(root, '.test', 'mutation') },
      workers: { type: 'string', default: '2' },
      report: { type: 'boolean', default: false },
    },
  });
  mkdirSync(values.folder, { recursive: true });
  const campaign = openCampaign(values.folder);
  const { mutants, results, sources } = campaign;
  if (values.report) return writeMutationReport(root, join(values.folder, 'score.json'));
  const deadline = performance.now() + Number(values.minutes) * 60_000;
  const chosen = mutants
    .toSorted((a, b) => (hash(a.id) < hash(b.id) ? -1 : 1))
    .filter(({ file }) => file.includes(values.file))
    .slice(0, values.sample === undefined ? undefined : Number(values.sample));
  const isOpen = ({ id }: Mutant): boolean => {
    const result = results.get(id);
    return result === undefined || (values.again && result.verdict === 'survived');
  };
  const queue = chosen.filter(isOpen);
  console.log(`${mutants.length} mutants, ${queue.length} to try`);
  const trials: Trial[] = [];
  const copies = Array.from({ length: Number(values.workers) }, (_, at) => join(values.folder, `copy-${at}`));
  for (const [at, copy] of copies.entries()) {
    trials.push(await openTrial(copy, sources, at === 0 ? undefined : copies[0]));
  }
  try {
    for (const trial of trials) {
      const { isKilled, by } = await trial.run({}, quickRound(allTests({}), moreRuns));
      if (isKilled) throw new Error(`a test fails without a mutant: ${by}`);
    }
    await work(campaign, trials, queue, tryQuickly, deadline);
    const survivors = chosen.filter(({ id }) => {
      const result = results.get(id);
      return result?.verdict === 'survived' && result.by === '';
    });
    console.log(`${survivors.length} survivors to try with more fuzz runs`);
    await work(campaign, trials, survivors, tryThoroughly, deadline);
  } finally {
    for (const trial of trials) await trial.close();
  }
  const { valid, killed, percent } = scoreOf(mutants.length, {}, [...results.values()]);
  console.log(`${killed} of ${valid} valid mutants killed: ${percent} %`);
}

await main();
