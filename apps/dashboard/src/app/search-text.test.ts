import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseSearch, writeSearch } from './search-text.ts';

test('an address has numbers, dates and quotes as they are typed', () => {
  const search = { amountFrom: '100', from: '2026-11-01', text: '"true"', none: undefined };
  assert.equal(writeSearch(search), '?amountFrom=100&from=2026-11-01&text=%22true%22');
  assert.deepEqual(parseSearch(writeSearch(search)), {
    amountFrom: '100',
    from: '2026-11-01',
    text: '"true"',
  });
  assert.equal(writeSearch({}), '');
});

test('long numbers keep their digits, and a name that comes twice keeps both values', () => {
  const text = '?reference=00012345678901234567890&status=paid&status=expired';
  assert.deepEqual(parseSearch(text), {
    reference: '00012345678901234567890',
    status: ['paid', 'expired'],
  });
  assert.equal(writeSearch(parseSearch(text)), text);
});
