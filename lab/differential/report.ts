import { readFile, writeFile } from 'node:fs/promises';
import type { ModelComparison } from './compare.ts';

const file = new URL('../../docs/reliability.md', import.meta.url);
const begin = '<!-- differential: written by npm run differential -- --report -->';
const end = '<!-- differential ends -->';

/** Writes the figures of one run into their section of docs/reliability.md, between the two marks. */
export async function writeFigures(run: {
  readonly firstSeed: number;
  readonly seconds: number;
  readonly results: readonly ModelComparison[];
}): Promise<void> {
  const { firstSeed, seconds, results } = run;
  const text = await readFile(file, 'utf8');
  const [before, rest] = text.split(begin);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined)
    throw new Error('docs/reliability.md has no section for it');
  const sum = (of: (result: ModelComparison) => number) =>
    results.reduce((total, result) => total + of(result), 0);
  const lines = [
    `Seeds from ${firstSeed} on, ${Math.round(seconds)} seconds on two shared cores.`,
    '',
    '| what | how many |',
    '|---|---:|',
    `| sequences of calls | ${results.length} |`,
    `| calls | ${sum(({ steps }) => steps)} |`,
    `| of which succeeded | ${sum(({ succeeded }) => succeeded)} |`,
    `| kinds of outcomes: call, and its events or its error | ${new Set(results.flatMap(({ outcomes }) => [...outcomes.keys()])).size} |`,
    `| **sequences with a difference** | **${results.filter(({ differences }) => differences.length > 0).length}** |`,
  ];
  await writeFile(file, `${before}${begin}\n\n${lines.join('\n')}\n\n${end}${after}`);
}
