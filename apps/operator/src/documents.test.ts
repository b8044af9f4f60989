import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
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

/** Whether the program takes the line as it stands: the command, its options, and all that it needs. */
async function isTaken(line: string): Promise<boolean> {
  let performed = 0;
  const program = buildProgram(checkoutProgram, {
    writeOut: () => {},
    writeErr: () => {},
    perform: async () => {
      performed += 1;
    },
  });
  const words = line.replace(/ < .*$/, '').match(/(?:\$\([^)]*\)|'[^']*'|[^\s'])+/g) ?? [];
  const args = words.map((word) => word.replaceAll("'", ''));
  await program.parseAsync(args, { from: 'user' }).catch(() => {});
  return performed === 1;
}

test('every command has examples, and each is a command line of that command', async () => {
  for (const { commands } of checkoutProgram.families) {
    for (const [name, { examples = [] }] of Object.entries(commands)) {
      assert.ok(examples.length > 0, name);
      for (const example of examples) {
        assert.ok(`${example} `.startsWith(`${name} `), example);
        assert.ok(await isTaken(example), example);
      }
    }
  }
});

/** The blocks of commands in the runbooks. */
function runbookBlocks(): string[] {
  return globSync('docs/runbook/*.md', { cwd: root }).flatMap((path) =>
    [...readFileSync(new URL(path, root), 'utf8').matchAll(/^ *```sh.*\n([\s\S]*?)^ *```$/gm)].map(
      ([, block = '']) => block,
    ),
  );
}

test('every command in a block of a runbook is complete', async () => {
  const lines = runbookBlocks()
    .flatMap(commandLinesOf)
    .filter((line) => !notCommands.has(line.split(' ')[0] ?? ''));
  assert.ok(lines.length > 60);
  const wrong: string[] = [];
  for (const line of lines) {
    const isWhole = !line.startsWith('operator ') || /--(?:chain|rpc) /.test(line);
    if (!isWhole || !(await isTaken(line))) wrong.push(line);
  }
  assert.deepEqual(wrong, []);
});

/** What a shell does itself. */
const shellWords = ['.', 'cd', 'echo', 'export', 'umask'];

test('every other program in a block of a runbook is in the table that says which test runs it', () => {
  const heads = ['deploy/systemd/florin@.service', 'deploy/kubernetes/florin.yaml'].map((path) =>
    [...readFileSync(new URL(path, root), 'utf8').matchAll(/^# {3}(\S.*)$/gm)]
      .map(([, line = '']) => line)
      .join('\n'),
  );
  const lines = [...runbookBlocks().map((block) => block.replaceAll(/ *\\\n\s*/g, ' ')), ...heads]
    // What a line hands to a program: a text in quotation marks, or the lines up to END.
    .flatMap((block) =>
      block
        .replaceAll(/<<'END'[\s\S]*?\nEND$/gm, '')
        .replaceAll(/'[^']*'/g, "''")
        .split('\n'),
    )
    .flatMap((line) => line.split(' && '))
    .map((line) => line.trim().replace(/^(?:[A-Z_]+=\S+ )+/, ''));
  const programs = new Set(
    lines
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => line.split(' ')[0] ?? '')
      .filter((word) => ![...shellWords, 'florin'].includes(word)),
  );
  const [, text = ''] =
    /## Commands of the system in the runbooks\n([\s\S]*?)\n## /.exec(
      readFileSync(new URL('docs/reliability.md', root), 'utf8'),
    ) ?? [];
  const rows = [...text.matchAll(/^\| (`.*?) \| .*? \| (.*) \|$/gm)];
  const listed = rows.flatMap(([, words = '']) => words.match(/[\w-]+/g) ?? []);
  assert.deepEqual([...programs].sort(), listed.sort());
  for (const [, words, tests = ''] of rows) {
    const paths = tests.match(/[\w/.-]+\.test\.ts/g) ?? [];
    assert.ok(paths.length > 0 || /not run/.test(tests), words);
    for (const path of paths) assert.ok(existsSync(new URL(path, root)), path);
  }
});
