import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import type { Part } from './part.ts';
import { root } from './processes.ts';

const isStory = (file: string): boolean => file.startsWith('apps/server/test/');
/** What takes most processor time, longest first, then what waits long. It runs before all others. */
const longest = [
  ...['browser/states', 'browser/pay', 'dashboard/sign-in', 'fuzz/merchant-fuzz', 'dashboard/roles'],
  ...['life/direct', 'browser/safety', 'life/payment', 'src/supervisor', 'src/signer', 'src/own-database'],
];
/** What takes long and is run before a release: `npm run test:deep`. */
export const isDeep = (file: string): boolean => file.endsWith('.deep.test.ts');
/** Whether some of the tests of a file run only in `npm run test:deep`, or take more cases there. */
export const hasDeepTests = (file: string): boolean =>
  / (?:deepOnly|isDeepRun)\b/.test(readFileSync(`${root}${file}`, 'utf8'));

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
 * The parts that run these files, each in a process that runs others before and after it: the slow ones first, and stories
 * before rules, because stories wait.
 */
export function nodeParts(files: readonly string[], env: Readonly<Record<string, string>> = {}): Part[] {
  const weightOf = (file: string): number => {
    const rank = longest.findIndex((name) => file.endsWith(`/${name}.test.ts`));
    if (rank >= 0) return rank;
    return longest.length + (isStory(file) ? 0 : 1);
  };
  return files
    .toSorted((first, second) => weightOf(first) - weightOf(second))
    .map((file) => ({
      name: file,
      isLong: weightOf(file) < longest.length,
      async run({ runFile, addProcessorSeconds }) {
        const { processorSeconds, ...outcome } = await runFile(file, env);
        addProcessorSeconds(processorSeconds);
        return outcome;
      },
    }));
}
