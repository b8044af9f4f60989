import { readFile, writeFile } from 'node:fs/promises';
import type { HistoryResult } from './history.ts';

const file = new URL('../../../docs/reliability.md', import.meta.url);

/** What one run of the simulator has found. */
export type Findings =
  | {
      readonly results: readonly HistoryResult[];
      readonly seconds: number;
      readonly workers: number;
      readonly firstSeed: number;
    }
  | { readonly hunted: readonly { readonly name: string; readonly counts: readonly number[] }[] };

/** Writes what a run has found into its section of docs/reliability.md, between its two marks. */
export async function writeReport(findings: Findings): Promise<void> {
  const [name, lines] =
    'hunted' in findings ? ['bugs', bugLines(findings)] : ['histories', historyLines(findings)];
  const text = await readFile(file, 'utf8');
  const begin = `<!-- simulate ${name}: written by npm run simulate -- --report -->`;
  const end = `<!-- simulate ${name} ends -->`;
  const [before, rest] = text.split(begin);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined)
    throw new Error(`docs/reliability.md has no section for ${name}`);
  await writeFile(file, `${before}${begin}\n${lines.join('\n')}\n${end}${after}`);
}

function historyLines(findings: Extract<Findings, { readonly results: unknown }>): string[] {
  const { results, seconds, workers, firstSeed } = findings;
  const bad = results.filter(({ problems }) => problems.length > 0).length;
  const faults = new Map<string, number>();
  for (const { faultCounts } of results) {
    for (const [kind, count] of Object.entries(faultCounts))
      faults.set(kind, (faults.get(kind) ?? 0) + count);
  }
  const restored = results.filter(({ story }) => story.restore !== undefined).length;
  const deep = results.filter(({ story }) => story.deepReorgMs !== undefined).length;
  const reorgs = results.reduce((sum, { reorgCount }) => sum + reorgCount, 0);
  const sessions = results.reduce((sum, { story }) => sum + story.sessions.length, 0);
  const events = results.reduce((sum, { eventCount }) => sum + eventCount, 0);
  return [
    '',
    `Seeds from ${firstSeed} on, ${workers} workers, ${Math.round(seconds)} seconds on two shared cores.`,
    '',
    '| what | how many |',
    '|---|---|',
    `| histories | ${results.length} |`,
    `| **bad histories** | **${bad}** |`,
    `| sessions | ${sessions} |`,
    `| events | ${events} |`,
    `| reorgs within finality | ${reorgs - deep} |`,
    `| reorgs below finality | ${deep} |`,
    `| restored backups | ${restored} |`,
    ...[...faults].sort().map(([kind, count]) => `| fault: ${kind} | ${count} |`),
    '',
  ];
}

function bugLines({ hunted }: Extract<Findings, { readonly hunted: unknown }>): string[] {
  const rows = hunted.map(({ name, counts }) => {
    const median = counts.toSorted((a, b) => a - b)[counts.length >> 1];
    return `| ${name} | ${median ?? 'not caught'} |`;
  });
  const caught = hunted.filter(({ counts }) => counts.length > 0).length;
  return [
    '',
    '| seeded bug | histories to catch it (median) |',
    '|---|---|',
    ...rows,
    '',
    `${caught} of ${hunted.length} caught.`,
    '',
  ];
}
