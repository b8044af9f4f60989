import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** `equal`: the compiler produces the original's code, so no test could notice the change. */
export type MutantVerdict = 'killed' | 'invalid' | 'equal' | 'survived';

/** The result of one mutant. */
export interface MutantResult {
  readonly id: string;
  readonly before: string;
  readonly after: string;
  readonly verdict: MutantVerdict;
  /** The killer: file and name of the first failing test. Otherwise the reason why the mutant does not count. */
  readonly by: string;
}

/** The state of a campaign. */
export interface Score {
  readonly mutants: number;
  readonly tried: number;
  /** Mutants that are neither invalid nor equal. */
  readonly valid: number;
  readonly killed: number;
  readonly percent: number;
  /** Hash by source file. A result counts until its file changes. */
  readonly sources: Readonly<Record<string, string>>;
  readonly results: readonly MutantResult[];
}

const START = '<!-- score: written by npm run mutate -- --report -->';
const END = '<!-- end of score -->';

export function scoreOf(
  mutants: number,
  sources: Readonly<Record<string, string>>,
  results: readonly MutantResult[],
): Score {
  const all = results.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const killed = all.filter(({ verdict }) => verdict === 'killed').length;
  const valid = killed + all.filter(({ verdict }) => verdict === 'survived').length;
  const percent = valid === 0 ? 0 : Math.floor((killed * 1_000) / valid) / 10;
  return { mutants, tried: all.length, valid, killed, percent, sources, results: all };
}

/** Writes a campaign's figures and survivors into docs/security/mutation.md. */
export function writeMutationReport(root: string, scoreFile: string): void {
  const score = JSON.parse(readFileSync(scoreFile, 'utf8')) as Score;
  const path = join(root, 'docs', 'security', 'mutation.md');
  const page = readFileSync(path, 'utf8');
  const [start, end] = [page.indexOf(START), page.indexOf(END)];
  if (start === -1 || end < start) throw new Error(`${path} has no place for the score`);
  writeFileSync(path, `${page.slice(0, start)}${START}\n\n${describe(score)}\n${page.slice(end)}`);
}

function describe({ mutants, tried, valid, killed, percent, results }: Score): string {
  const count = (verdict: MutantVerdict) => results.filter((result) => result.verdict === verdict).length;
  const files = [...new Set(results.map(({ id }) => fileOf(id)))].toSorted();
  const rows = files.map((file) => {
    const own = scoreOf(
      0,
      {},
      results.filter(({ id }) => fileOf(id) === file),
    );
    return `| ${file} | ${own.tried} | ${own.valid} | ${own.killed} | ${own.percent} % |`;
  });
  const survivors = results.filter(({ verdict }) => verdict === 'survived');
  const lines = survivors.map(
    ({ id, before, after }) => `- \`${id}\`: \`${shown(before)}\` to \`${shown(after)}\``,
  );
  const thorough = survivors.filter(({ by }) => by !== '').length;
  return [
    `${tried} of ${mutants} mutants tried. ${count('invalid')} do not compile, ${count('equal')} compile to the same code as the`,
    `original; of the ${valid} that count, **${killed} are killed: ${percent} %**.`,
    '',
    '| file | tried | valid | killed | |',
    '|---|---:|---:|---:|---:|',
    ...rows,
    '',
    `${survivors.length} survivors. Each fuzz test ran 16 times; for ${thorough} of them 256 times.`,
    '',
    ...lines,
    '',
  ].join('\n');
}

const fileOf = (id: string): string => id.split(':')[0] ?? '';

/** On one line, and short. */
function shown(code: string): string {
  const line = code.replaceAll(/\s+/g, ' ').replaceAll('`', "'");
  if (line.trim() === '') return 'nothing';
  return line.length > 60 ? `${line.slice(0, 59)}…` : line;
}
