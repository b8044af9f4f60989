import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type PaymentFilter, paymentFilters } from '@florin/protocol/payment-view.ts';
import { hasWords, type PaymentFilters, readableFilters, searchBodyOf } from './search-body.ts';

const none = Object.fromEntries(paymentFilters.map((name) => [name, ''])) as PaymentFilters;

test('no filters search for everything', () => {
  assert.deepEqual(searchBodyOf(none), {});
});

test('dollars become Micro-USD, and a day is from its first to its last second', () => {
  const body = searchBodyOf({
    ...none,
    amountFrom: '4.50',
    amountTo: '1000.5',
    createdFrom: '2026-03-01',
    createdTo: '2026-03-01',
  });
  const start = new Date(2026, 2, 1).getTime() / 1000;
  const end = new Date(2026, 2, 2).getTime() / 1000 - 1;
  assert.deepEqual(body, {
    amountFrom: 4_500_000,
    amountTo: 1_000_500_000,
    createdFrom: start,
    createdTo: end,
  });
});

test('a payment is searched by the days in which it was paid', () => {
  const body = searchBodyOf({ ...none, paidFrom: '2026-03-01', paidTo: '2026-03-02' });
  const [start, end] = [new Date(2026, 2, 1), new Date(2026, 2, 3)].map((time) => time.getTime() / 1000);
  assert.deepEqual(body, { paidFrom: start, paidTo: (end ?? 0) - 1 });
});

test('payments of which money went back are searched whatever their state', () => {
  assert.deepEqual(searchBodyOf({ ...none, status: 'refunded' }), { isRefunded: true });
  assert.deepEqual(searchBodyOf({ ...none, status: 'completed' }), { status: 'completed' });
});

test('a member of the metadata is searched by its name and its whole value', () => {
  const searched = (metadata: string) => searchBodyOf({ ...none, metadata });
  const read = { ' order = A-17 ': 'A-17', 'order=a=b': 'a=b', 'order=17': 17, 'order="17"': '17' };
  for (const [typed, order] of Object.entries({ ...read, 'order=true': true, 'order=null': 'null' }))
    assert.deepEqual(searched(typed), { metadata: { order } });
  for (const typed of ['order', 'order=', '=A-17']) assert.deepEqual(searched(typed), {});
});

test('an amount of a saved view in English keeps its meaning', () => {
  assert.deepEqual(searchBodyOf({ ...none, amountTo: '$1,000' }), { amountTo: 1_000_000_000 });
});

test('dollars in the search box search for that amount, and other numbers for text', () => {
  const exact = { amountFrom: 50_000_000, amountTo: 50_000_000 };
  for (const text of ['$50', ' $50.00', '$ 50']) assert.deepEqual(searchBodyOf({ ...none, text }), exact);
  for (const text of ['50', '50.00', '$x']) assert.deepEqual(searchBodyOf({ ...none, text }), { text });
  const filtered = { ...none, text: '$50', amountFrom: '10' };
  assert.deepEqual(searchBodyOf(filtered), { text: '$50', amountFrom: 10_000_000 });
});

test('what the service would refuse is not readable', () => {
  const readable = (name: PaymentFilter, value: string) => {
    const check = readableFilters[name];
    return typeof check === 'function' ? check(value) : check?.includes(value);
  };
  const odd = {
    status: 'odd',
    amountFrom: 'many',
    createdFrom: 'soon',
    linkId: 'SUM',
    sessionType: 'x',
    paidTo: 'x',
  };
  const fine = {
    metadata: 'order=1',
    status: 'paid',
    amountFrom: '$1,000.5',
    createdFrom: '2026-03-01',
    linkId: ' lnk_1',
  };
  for (const [name, value] of Object.entries(odd))
    assert.equal(readable(name as PaymentFilter, value), false);
  for (const [name, value] of Object.entries(fine))
    assert.equal(readable(name as PaymentFilter, value), true);
  assert.deepEqual(searchBodyOf({ ...none, text: '  tea ', linkId: ' lnk_1' }), {
    text: 'tea',
    linkId: 'lnk_1',
  });
});

test('signs alone are nothing to search for', () => {
  assert.deepEqual(['%%\'"--', ' ', '-5', 'é', '数'].map(hasWords), [false, true, true, true, true]);
});
