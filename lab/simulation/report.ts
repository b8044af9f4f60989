import { readFile, writeFile } from 'node:fs/promises';
import type { Tally } from './tally.ts';

const file = new URL('../../docs/reliability.md', import.meta.url);

/** The result of searching for one seeded bug. */
export interface BugSearch {
  readonly name: string;
  readonly isCaught: boolean;
  /** Number of histories until each catch. */
  readonly counts: readonly number[];
  /** Events of all histories, and seconds of processor time of their workers. */
  readonly events: number;
  readonly cpuSeconds: number;
}

/** The results of a run. */
export type RunResults =
  | { readonly tally: Tally; readonly workers: number }
  | { readonly searches: readonly BugSearch[] };

/** Writes the results of a run into its section of docs/reliability.md, between the two marks. */
export async function writeReport(results: RunResults): Promise<void> {
  const [name, lines] =
    'searches' in results ? ['bugs', bugLines(results)] : ['histories', historyLines(results)];
  const text = await readFile(file, 'utf8');
  const begin = `<!-- simulate ${name}: written by npm run simulate -- --report -->`;
  const end = `<!-- simulate ${name} ends -->`;
  const [beforeBegin, afterBegin] = text.split(begin);
  const afterEnd = afterBegin?.split(end)[1];
  if (beforeBegin === undefined || afterEnd === undefined)
    throw new Error(`docs/reliability.md has no section for ${name}`);
  await writeFile(file, `${beforeBegin}${begin}\n${lines.join('\n')}\n${end}${afterEnd}`);
}

function historyLines({ tally, workers }: Extract<RunResults, { readonly tally: Tally }>): string[] {
  const { histories = 0, ...others } = tally.counts;
  const perSecond = histories / tally.seconds;
  return [
    '',
    `Seeds from ${tally.firstSeed} on, ${workers} workers, ${Math.round(tally.seconds)} seconds on two shared cores ` +
      `(${perSecond.toFixed(1)} a second). Histories are counted separately for each version of the sources.`,
    '',
    '| sources | commit | histories | bad |',
    '|---|---|---|---|',
    ...tally.versions.map(
      (version) =>
        `| ${version.sources} | ${version.commit || 'none'} | ${version.histories} | **${version.bad}** |`,
    ),
    '',
    '| what | how many |',
    '|---|---|',
    `| histories | ${histories} |`,
    `| **bad histories** | **${tally.bad.length}** |`,
    ...Object.entries(others)
      .sort(([first], [second]) => (first < second ? -1 : 1))
      .map(([name, count]) => `| ${name} | ${count} |`),
    '',
  ];
}

function bugLines({ searches }: Extract<RunResults, { readonly searches: unknown }>): string[] {
  const rows = searches.map(({ name, counts, events, cpuSeconds }) => {
    const median = counts.toSorted((a, b) => a - b)[counts.length >> 1];
    if (median === undefined) return `| ${name} | not caught | | |`;
    const catches = counts.length;
    return `| ${name} | ${median} | ${Math.round(events / catches)} | ${(cpuSeconds / catches).toFixed(1)} |`;
  });
  const caught = searches.filter(({ counts }) => counts.length > 0).length;
  return [
    '',
    '| seeded bug | histories to catch it (median) | events to each catch | seconds of the workers to each catch |',
    '|---|---|---|---|',
    ...rows,
    '',
    `${caught} of ${searches.length} caught.`,
    '',
  ];
}
