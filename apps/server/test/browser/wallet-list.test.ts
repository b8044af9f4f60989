import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

const read = (file: string) => readFileSync(new URL(file, import.meta.url), 'utf8');

test('each way in which a wallet misbehaves has the test that the list names', () => {
  const rows = [
    ...read('README.md').matchAll(/^\| (?<way>It.*?|Its.*?) \| (?<file>\S+) \| (?<words>.*) \|$/gm),
  ];
  assert.ok(rows.length >= 15, `${rows.length} ways`);
  const missing = rows.filter(({ groups: { file = '', words = '' } = {} }) => !read(file).includes(words));
  assert.deepEqual(
    missing.map(([row]) => row),
    [],
  );
});
