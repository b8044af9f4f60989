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

const own = 'apps/operator/src';
/** Of each command of the runbooks: a file that runs it, and the text with which it does. */
const runBy: Readonly<Record<string, readonly [file: string, text: string]>> = {
  'account create': [`${own}/main.test.ts`, 'account create'],
  'account list': [`${own}/main.test.ts`, 'account list'],
  'account update': [`${own}/main.test.ts`, 'account update'],
  backup: [`${own}/backup-command.test.ts`, "'backup', '--out'"],
  'chain backfill': [`${own}/doctor-command.test.ts`, 'chain backfill'],
  'chain dropped': [`${own}/doctor-command.test.ts`, 'chain dropped'],
  'chain resume': [`${own}/doctor-command.test.ts`, 'chain resume'],
  deploy: ['lab/from-nothing/from-nothing.ts', "['deploy',"],
  doctor: [`${own}/doctor-command.test.ts`, "'doctor'"],
  'exception accept': [`${own}/exception-command.test.ts`, "on('accept',"],
  'exception list': [`${own}/exception-command.test.ts`, "'exception', 'list'"],
  'exception refund': [`${own}/exception-command.test.ts`, "on('refund',"],
  'exception resolve': [`${own}/exception-command.test.ts`, "on('resolve',"],
  'exception show': [`${own}/exception-command.test.ts`, "'exception', 'show'"],
  handover: [`${own}/remote-signer.test.ts`, "run('handover',"],
  init: [`${own}/init-command.test.ts`, "'init'"],
  invite: [`${own}/member-command.test.ts`, 'invite'],
  'key create': [`${own}/key-command.test.ts`, 'key create'],
  'key list': [`${own}/key-command.test.ts`, 'key list'],
  'keystore create': ['lab/from-nothing/from-nothing.ts', "'keystore', 'create'"],
  'kit find': [`${own}/kit-command.test.ts`, "kit('find',"],
  'kit reclaim': [`${own}/kit-command.test.ts`, "kit('reclaim',"],
  'kit rescue': [`${own}/kit-command.test.ts`, "kit('rescue',"],
  'kit settle': [`${own}/kit-command.test.ts`, "kit('settle',"],
  'kit verify': [`${own}/kit-command.test.ts`, "kit('verify',"],
  'ledger verify': [`${own}/backup-command.test.ts`, "'ledger', 'verify'"],
  'member cancel-recovery': [`${own}/member-command.test.ts`, 'member cancel-recovery'],
  'member list': [`${own}/member-command.test.ts`, 'member list'],
  'member recover': [`${own}/member-command.test.ts`, 'member recover'],
  'merchant brand': [`${own}/brand-command.test.ts`, "'merchant', 'brand'"],
  'merchant create': [`${own}/main.test.ts`, 'merchant create'],
  'merchant list': [`${own}/main.test.ts`, 'merchant list'],
  migrate: [`${own}/init-command.test.ts`, "'migrate'"],
  'operator pause': [`${own}/operator-command.test.ts`, "run('pause"],
  'operator settler': [`${own}/operator-command.test.ts`, "run('settler"],
  'operator signer': [`${own}/operator-command.test.ts`, "run('signer"],
  'payer erase': [`${own}/main.test.ts`, 'payer erase'],
  'reconcile release': [`${own}/backup-command.test.ts`, "'reconcile', 'release'"],
  'reconcile status': [`${own}/backup-command.test.ts`, "'reconcile', 'status'"],
  restore: [`${own}/backup-command.test.ts`, "'restore', '--from'"],
  'restore report': [`${own}/backup-command.test.ts`, "'restore', 'report'"],
  'settlement list': [`${own}/settlement-command.test.ts`, "'settlement', 'list'"],
  'settlement release': [`${own}/settlement-command.test.ts`, "'settlement', 'release'"],
  'staff add': [`${own}/staff-command.test.ts`, 'staff add'],
  'staff list': [`${own}/staff-command.test.ts`, 'staff list'],
  'staff remove': [`${own}/staff-command.test.ts`, 'staff remove'],
  verify: [`${own}/deploy-command.test.ts`, "'verify'"],
  'webhook reseal': [`${own}/main.test.ts`, 'webhook reseal'],
};

test('every command of a runbook is run by a test', () => {
  const commands = readCommands();
  const read = (path: string) => readFileSync(new URL(path, root), 'utf8');
  const lines = globSync('docs/runbook/*.md', { cwd: root }).flatMap((path) => commandLinesOf(read(path)));
  const named = lines
    .map((line) => line.split(/\s+/))
    .map((words) => [words.slice(0, 2).join(' '), words[0] ?? ''].find((name) => commands.has(name)) ?? '')
    // A family without its command, in a sentence.
    .filter((name) => name !== '' && name !== 'operator');
  assert.deepEqual([...new Set(named)].sort(), Object.keys(runBy).sort());
  const wrong = Object.entries(runBy).filter(([, [file, text]]) => !read(file).includes(text));
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
