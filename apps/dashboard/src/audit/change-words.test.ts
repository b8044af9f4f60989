import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exactTime, formatUsd } from '../ui/format.ts';
import { changesLine, changesOf, subjectName } from './change-words.ts';

test('an act shows in words what it changed, without what changes each time', () => {
  const link = {
    ...{
      linkId: 'lnk_1',
      linkName: 'Tea',
      feeModel: 1,
      updateAt: '2030-01-01 10:00:00',
      versionCode: 'ver_1',
    },
    lineItems: {
      items: [{ lineItemId: 'li_1', quantity: 1, unitPrice: 5_000_000, productData: { productName: 'Tea' } }],
    },
  };
  const [item] = link.lineItems.items;
  const later = {
    ...{ ...link, linkName: 'Green tea', feeModel: 2, updateAt: '2030-01-02 10:00:00', versionCode: 'ver_2' },
    lineItems: { items: [{ ...item, lineItemId: 'li_2', unitPrice: 7_000_000 }] },
    ...{ supportUrl: 'https://shop.example/help', customSuccessText: '' },
  };
  const changes = changesOf(JSON.stringify(link), JSON.stringify(later), 'lnk_1');
  assert.deepEqual(changes, [
    { name: 'Name', before: 'Tea', after: 'Green tea' },
    { name: 'The fee', before: 'The merchant pays it', after: 'The payer pays it' },
    { name: 'Item 1, price', before: formatUsd(5_000_000), after: formatUsd(7_000_000) },
    { name: 'Support URL', before: undefined, after: 'https://shop.example/help' },
  ]);
  assert.match(changesLine(changes), /^Name: Tea → Green tea · .* · Support URL: https:/);
});

test('lists of values are one field, and flags are words', () => {
  const before = { permissions: ['a'], isReady: false, price: 1 };
  const after = {
    permissions: ['a', 'b'],
    isReady: true,
    price: 1,
    attributes: [{ name: 'Size', value: 'L' }],
  };
  assert.deepEqual(changesOf(JSON.stringify(before), JSON.stringify(after)), [
    { name: 'May', before: 'a', after: 'a, b' },
    { name: 'Is ready', before: 'No', after: 'Yes' },
    { name: 'Attribute 1, name', before: undefined, after: 'Size' },
    { name: 'Attribute 1, value', before: undefined, after: 'L' },
  ]);
  assert.equal(changesLine(changesOf('', '{"proof":"password"}')), 'Proven by: Password');
  assert.equal(changesLine(changesOf('{"note":"x"}', '{}')), 'Note: removed');
  const [from] = changesOf('', '{"from":1796083200}');
  assert.equal(from?.after, exactTime(new Date(1_796_083_200_000)));
  assert.deepEqual(changesOf('', ''), []);
  assert.deepEqual(changesOf('', '{"a":null,"b":""}'), []);
});

test('a caller may name metadata as it likes, also with the names that every object has', () => {
  const keys = ['constructor', 'toString', 'valueOf', 'hasOwnProperty', '__proto__'];
  for (const key of keys) {
    // JSON.parse makes a member of `__proto__`; a literal would not.
    const changes = changesOf('', `{"metadata":{"${key}":"x"},"${key}":{"${key}":["${key}"]}}`);
    assert.deepEqual(
      changes.map(({ after }) => after),
      ['x', key],
    );
    assert.match(changes[0]?.name ?? '', /^Metadata, /);
    // A value of a field whose values have words.
    assert.equal(
      changesLine(changesOf('', `{"metadata":{"feeModel":"${key}"}}`)),
      `Metadata, the fee: ${key}`,
    );
  }
});

test('metadata with the name of an amount or a time may hold anything', () => {
  const metadata = { amount: 1.5, unitPrice: 1e300, expiresAt: 1e300, revokedAt: 'soon', decideBy: [true] };
  assert.deepEqual(
    changesOf('', JSON.stringify({ metadata })).map(({ after }) => after),
    ['1.5', '1e+300', '1e+300', 'soon', 'Yes'],
  );
});

test('a subject keeps its name in an entry that changes something else, and in its removal', () => {
  const wallet = { accountName: 'Till', status: 'normal' };
  const removed = JSON.stringify({ ...wallet, status: 'removed' });
  assert.equal(subjectName(JSON.stringify(wallet), removed), 'Till');
  assert.equal(subjectName('', JSON.stringify({ accountName: 'Till', linkName: 'Tea' })), 'Tea');
  assert.equal(subjectName(JSON.stringify({ name: 'Mug' }), ''), 'Mug');
  assert.deepEqual(
    [subjectName('', ''), subjectName('', '{"name":7}'), subjectName('', 'true')],
    ['', '', ''],
  );
});
