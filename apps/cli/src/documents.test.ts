import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { merchantProgram } from './api.fixture.ts';
import { buildProgram } from './program.ts';

const root = new URL('../../../', import.meta.url);

/** The words of a command line as a shell splits them. */
function wordsOf(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '');
}

// `completion` is a command of the process, not of the program: apps/cli/src/program.test.ts has its lines.
// apps/operator/src/documents.test.ts compares the lines with `npm run florin --`, which has an operator's commands, too.
test('no document has a package fetched from a registry that does not have it', () => {
  const places = ['*.md', 'docs/**/*.md', 'examples/**/*.md', '{apps,packages,plugins}/**/*.md'];
  // The table of expectations has names of tests.
  const exclude = ['**/node_modules/**', '**/dist/**', 'docs/expectations.md'];
  const unsafe = /(npx|npm exec|bunx|dlx)( -\S+)* (@?florin)|npm (i|install|add)( -\S+)* @florin\//;
  for (const path of places.flatMap((pattern) => globSync(pattern, { cwd: root, exclude })))
    for (const line of readFileSync(new URL(path, root), 'utf8').split('\n'))
      assert.ok(!unsafe.test(line.replaceAll('npx --no-install florin', '')), `${path}: ${line}`);
});

test('every command line of the published package in a document is one', async () => {
  const pages = ['*.md', 'apps/cli/*.md', 'docs/**/*.md'].flatMap((pattern) =>
    globSync(pattern, { cwd: root }),
  );
  const lines = pages.flatMap((path) =>
    [
      ...readFileSync(new URL(path, root), 'utf8').matchAll(
        /npx --no-install florin (?!completion)([^\n`|;&]+)/g,
      ),
    ].map(([, line = '']) => line),
  );
  assert.ok(lines.length >= 3);
  for (const line of lines) {
    const print = () => {};
    const program = buildProgram(merchantProgram, {
      writeOut: print,
      writeErr: print,
      perform: async () => {},
    });
    await program.parseAsync(wordsOf(line), { from: 'user' });
  }
});
