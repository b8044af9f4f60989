import assert from 'node:assert/strict';
import { test } from 'node:test';
import { namedApart, nameFault, typedValue } from './named-option.ts';

const options = [
  { value: 'lnk_0123456789abcdefABCDEF', label: 'Tea' },
  { value: 'lnk_0123456789abcdefUVWXYZ', label: 'Tea' },
  { value: 'lnk_1', label: 'Coffee' },
  { value: 'lnk_2', label: 'Coffee to go' },
];

test('a typed name stands for its value, anything else for itself, and equal names are told apart', () => {
  const named = namedApart(options);
  assert.deepEqual(
    named.map(({ label }) => label),
    ['Tea (lnk_…ABCDEF)', 'Tea (lnk_…UVWXYZ)', 'Coffee', 'Coffee to go'],
  );
  assert.deepEqual(
    ['coffee ', 'Tea (lnk_…UVWXYZ)', 'Tea', ' lnk_9 ', ''].map((typed) => typedValue(named, 'lnk_', typed)),
    ['lnk_1', 'lnk_0123456789abcdefUVWXYZ', 'Tea', 'lnk_9', ''],
  );
});

test('a part of one name stands for it; a part of several, or of none, says what to choose', () => {
  const named = namedApart(options);
  assert.equal(typedValue(named, 'lnk_', ' TO g'), 'lnk_2');
  // The end of an id in a name is no part of an id.
  assert.equal(typedValue(named, 'lnk_', 'lnk_…ABC'), 'lnk_…ABC');
  const faults = ['', 'coffee', 'to go', 'lnk_9', 'fee', 'SUM', 'e'].map((typed) =>
    nameFault(named, 'lnk_', typed)?.replace(/[\u2066-\u2069]/g, ''),
  );
  assert.deepEqual(faults, [
    ...[undefined, undefined, undefined, undefined],
    'Choose one of these: Coffee, Coffee to go.',
    'No name here has this. Choose one of the list, or write an id: lnk_…',
    'Choose one of these: Tea (lnk_…ABCDEF), Tea (lnk_…UVWXYZ), Coffee and 1 more.',
  ]);
});
