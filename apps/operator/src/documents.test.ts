import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { buildProgram } from '@florin/cli';
import { checkoutProgram } from './cli.ts';

const root = new URL('../../../', import.meta.url);

/** The options of each command, by its one or two words. */
function readCommands(): Map<string, Set<string>> {
  const print = () => {};
  const program = buildProgram(checkoutProgram, {
    writeOut: print,
    writeErr: print,
    perform: async () => {},
  });
  const optionsOf = (command: typeof program) =>
    new Set(['--help', ...command.options.map(({ long }) => long ?? '')]);
  return new Map(
    program.commands.flatMap((first) => [
      [first.name(), optionsOf(first)] as const,
      ...first.commands.map((second) => [`${first.name()} ${second.name()}`, optionsOf(second)] as const),
    ]),
  );
}

/** Command lines in a document, whether alone or within a sentence. */
function commandLinesOf(text: string): string[] {
  const joined = text.replaceAll(/\\\n\s*/g, ' ');
  const calls = /(?:npm run florin --|(?<=^|`)florin)\s([^\n`#|;&]+)/gm;
  return [...joined.matchAll(calls)].map(([, line = '']) => line.trim());
}

/** What the program takes besides its commands; `serve` is the service of a release. */
const notCommands = new Set(['help', '--version', 'serve', 'complete', 'completion']);

test('every command line in a document has an existing command and existing options', () => {
  const commands = readCommands();
  const pages = [
    '*.md',
    'docs/**/*.md',
    'apps/*/*.md',
    'packages/agent/**/*.md',
    'contracts/**/*.md',
  ].flatMap((pattern) => globSync(pattern, { cwd: root, exclude: ['**/node_modules/**'] }));
  const lines = pages.flatMap((path) =>
    commandLinesOf(readFileSync(new URL(path, root), 'utf8')).map((line) => ({ path, line })),
  );
  assert.ok(lines.length > 20);
  for (const option of ['--url', '--policy']) assert.ok(commands.get('mcp')?.has(option), option);
  const wrong = lines.filter(({ line }) => {
    const words = line.split(/\s+/);
    if (notCommands.has(words[0] ?? '')) return false;
    const options = commands.get(words.slice(0, 2).join(' ')) ?? commands.get(words[0] ?? '');
    return options === undefined || (line.match(/--[a-z-]+/g) ?? []).some((name) => !options.has(name));
  });
  assert.deepEqual(wrong, []);
});

test('every command has examples, and each is a command line of that command', async () => {
  for (const { commands } of checkoutProgram.families) {
    for (const [name, { examples = [] }] of commands) {
      assert.ok(examples.length > 0, name);
      for (const example of examples) {
        assert.ok(`${example} `.startsWith(`${name} `), example);
        let performed = 0;
        const program = buildProgram(checkoutProgram, {
          writeOut: () => {},
          writeErr: () => {},
          perform: async () => {
            performed += 1;
          },
        });
        const words = example.replace(/ < .*$/, '').match(/'[^']*'|\S+/g) ?? [];
        await program.parseAsync(
          words.map((word) => word.replaceAll("'", '')),
          { from: 'user' },
        );
        assert.equal(performed, 1, example);
      }
    }
  }
});
