import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PaymentFilter } from '@florin/protocol/payment-view.ts';
import { filterFault } from './filter-fault.ts';

/** The filters of these that have a fault. */
function faulty(typed: Partial<Record<PaymentFilter, string>>): string[] {
  const names = Object.keys(typed) as PaymentFilter[];
  return names.filter((name) => filterFault(name, (each) => typed[each] ?? '') !== undefined);
}

test('filters that no payment can have are refused, each at its field', () => {
  const impossible = {
    ...{ createdFrom: '2026-12-30', createdTo: '2026-01-01', amountFrom: '100', amountTo: '5' },
    ...{ paidFrom: '2026-01-02', paidTo: '2026-01-01', metadata: 'order' },
    ...{ payer: '0x12', payerEmail: 'nope', txHash: '0xzz' },
  };
  assert.deepEqual(faulty(impossible), [
    'createdTo',
    'amountTo',
    'paidTo',
    'metadata',
    'payer',
    'payerEmail',
    'txHash',
  ]);
});

test('filters that a payment can have, and empty ones, are taken', () => {
  const possible = {
    ...{ createdFrom: '2026-01-01', createdTo: '2026-01-01', amountFrom: '5', amountTo: '5.00' },
    ...{ paidFrom: '2026-01-01', paidTo: '2026-01-02', metadata: 'order=A-17' },
    ...{ payer: ` 0x${'Ab'.repeat(20)}`, payerEmail: 'ada@example.com', txHash: `0x${'0f'.repeat(32)}` },
  };
  assert.deepEqual(
    [faulty(possible), faulty({ createdTo: '', payer: ' ', createdFrom: '2026-01-01' })],
    [[], []],
  );
});
