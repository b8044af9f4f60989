import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { contractPages } from './generate-contract-pages.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const folder = join(root, 'contracts', 'src');

/** Code of the contracts by file, without comments. */
const codes = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.sol'))
  .map((file) => ({
    file,
    code: readFileSync(join(folder, file), 'utf8').replace(/\/\/[^\n]*|\/\*[\s\S]*?\*\//g, ''),
  }));

/** Each error on the contracts' pages, and what it means. */
const explained = [...contractPages(root)]
  .filter(([path]) => path.endsWith('/README.md'))
  .flatMap(([, text]) => [...(text.split('## Errors')[1] ?? '').matchAll(/^\| `(\w+)\(.*?\)` \| (.*) \|$/gm)])
  .map(([, name = '', meaning = '']) => ({ name, meaning }));

test('each revert of the contracts names its error', () => {
  const nameless = codes.flatMap(({ file, code }) =>
    [...code.matchAll(/\b(?:require|assert|invalid)\(|\brevert\b(?! (?:\w+\.)?\w+\()/g)].map(
      ({ 0: found }) => `${file}: ${found}`,
    ),
  );
  assert.deepEqual(nameless, []);
});

test('the pages of the contracts explain every error that they revert with, and no other', () => {
  const thrown = codes.flatMap(({ code }) =>
    [...code.matchAll(/\brevert (?:\w+\.)?(\w+)\(/g)].map(([, name = '']) => name),
  );
  const names = explained.map(({ name }) => name);
  assert.deepEqual([...new Set(names)].toSorted(), [...new Set(thrown)].toSorted());
  assert.deepEqual(
    explained.filter(({ meaning }) => meaning === ''),
    [],
  );
});
