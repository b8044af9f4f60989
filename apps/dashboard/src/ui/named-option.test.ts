import assert from 'node:assert/strict';
import { test } from 'node:test';
import { namedApart, typedValue } from './named-option.ts';

const options = [
  { value: 'lnk_0123456789abcdefABCDEF', label: 'Tea' },
  { value: 'lnk_0123456789abcdefUVWXYZ', label: 'Tea' },
  { value: 'lnk_1', label: 'Coffee' },
];

test('a typed name stands for its value, anything else for itself, and equal names are told apart', () => {
  const named = namedApart(options);
  assert.deepEqual(
    named.map(({ label }) => label),
    ['Tea (lnk_…ABCDEF)', 'Tea (lnk_…UVWXYZ)', 'Coffee'],
  );
  assert.deepEqual(
    ['coffee ', 'Tea (lnk_…UVWXYZ)', 'Tea', ' lnk_9 ', ''].map((typed) => typedValue(named, typed)),
    ['lnk_1', 'lnk_0123456789abcdefUVWXYZ', 'Tea', 'lnk_9', ''],
  );
});
