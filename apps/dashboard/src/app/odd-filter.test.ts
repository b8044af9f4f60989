import assert from 'node:assert/strict';
import { test } from 'node:test';
import { oddFilters } from './odd-filter.ts';

test('what a list cannot read of an address is found: unknown names, and values that none of its own has', () => {
  const search = { status: 'paid', text: 5, color: 'red', from: 'soon', deep: { a: 1 }, to: '' };
  const readable = { status: ['paid', 'expired'], from: (value: string) => /^\d/.test(value), to: ['x'] };
  const odd = oddFilters(search, ['status', 'text', 'from', 'to'], readable);
  assert.deepEqual(
    odd.map(({ name, value }) => `${name}=${value}`),
    ['color=red', 'from=soon', 'deep={"a":1}'],
  );
  assert.equal(oddFilters({ status: 'Paid' }, ['status'], readable).length, 1);
});
