import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

const read = (file: string) => readFileSync(new URL(file, import.meta.url), 'utf8');

/** Names of tests: of a call, of a way that a table of tests has, and of a state with a wallet. */
const named = /^\s*(?:test\(|wallet\(|\{? ?does:)\s*(?<quote>['"`])(?<name>.*?)\k<quote>,/gm;
const namesIn = (file: string) => [...read(file).matchAll(named)].map(({ groups }) => groups?.['name'] ?? '');

test('each way in which a wallet misbehaves has the test that the list names', () => {
  const rows = [
    ...read('README.md').matchAll(/^\| (?<way>It.*?|Its.*?) \| (?<file>\S+) \| (?<words>.*) \|$/gm),
  ];
  assert.equal(rows.length, 30);
  // Words of several tests would not say which one is meant.
  const unclear = rows.filter(
    ({ groups: { file = '', words = '' } = {} }) =>
      namesIn(file).filter((name) => name.includes(words)).length !== 1,
  );
  assert.deepEqual(
    unclear.map(([row]) => row),
    [],
  );
});
