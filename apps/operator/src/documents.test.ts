import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { buildProgram } from '@florin/cli';
import { checkoutProgram } from './cli.ts';
import { commandLinesOf, readCommands } from './documents.fixture.ts';

const root = new URL('../../../', import.meta.url);

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
