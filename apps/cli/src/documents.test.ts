import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { systemClock, systemRandom } from '@florin/server/operator';
import { runCli } from './cli.ts';

const root = new URL('../../../', import.meta.url);

/** The options of each command, by its one or two words, as `help` shows them. */
async function readHelp(): Promise<Map<string, Set<string>>> {
  const outside = { environment: {}, clock: systemClock, random: systemRandom, tell: () => {} };
  const { stdout } = await runCli(['help'], outside);
  const usages = stdout.split('\n').flatMap((line) => /^ {2}(\S.*)$/.exec(line)?.[1] ?? []);
  return new Map(
    usages.map((usage) => [
      /^[a-z]+(?: [a-z]+)?(?= |$)/.exec(usage)?.[0] ?? '',
      new Set(['--json', ...(usage.match(/--[a-z-]+/g) ?? [])]),
    ]),
  );
}

/** Command lines in a document, whether alone or within a sentence. */
function commandLinesOf(text: string): string[] {
  const joined = text.replaceAll(/\\\n\s*/g, ' ');
  return [...joined.matchAll(/npm run florin --\s([^\n`#|;&]+)/g)].map(([, line = '']) => line.trim());
}

test('every command line that a document shows has a command and options that there are', async () => {
  const help = await readHelp();
  const pages = ['*.md', 'docs/**/*.md', 'packages/agent/**/*.md', 'contracts/**/*.md'].flatMap((pattern) =>
    globSync(pattern, { cwd: root, exclude: ['**/node_modules/**'] }),
  );
  const lines = pages.flatMap((path) =>
    commandLinesOf(readFileSync(new URL(path, root), 'utf8')).map((line) => ({ path, line })),
  );
  assert.ok(lines.length > 20);
  const wrong = lines.filter(({ line }) => {
    const words = line.split(/\s+/);
    if (words[0] === 'help') return false;
    const options = help.get(words.slice(0, 2).join(' ')) ?? help.get(words[0] ?? '');
    return options === undefined || (line.match(/--[a-z-]+/g) ?? []).some((name) => !options.has(name));
  });
  assert.deepEqual(wrong, []);
});
