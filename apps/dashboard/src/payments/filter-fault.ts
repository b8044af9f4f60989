import type { PaymentFilter } from '@florin/protocol/payment-view.ts';
import { parseUsd } from '../ui/amount.ts';
import { filteredMetadata } from './search-body.ts';

const address = /^0x[0-9a-f]{40}$/i;
const hash = /^0x[0-9a-f]{64}$/i;
const email = /^[^\s@]+@[^\s@]+$/;

/**
 * What to change in a filter that no payment can have, by itself or beside another one; undefined for an empty one. Without it
 * a slip of the pen reads as if there were no such payment.
 */
export function filterFault(name: PaymentFilter, typed: (name: PaymentFilter) => string): string | undefined {
  const value = typed(name).trim();
  if (value === '') return undefined;
  const isBefore =
    (name === 'createdTo' && value < typed('createdFrom')) ||
    (name === 'paidTo' && value < typed('paidFrom'));
  if (isBefore) return 'This day is before the first one.';
  if (name === 'amountTo') {
    const [least, most] = [parseUsd(typed('amountFrom')), parseUsd(value)];
    return least !== undefined && most !== undefined && most < least
      ? 'This is less than “At least”.'
      : undefined;
  }
  if (name === 'payer' && !address.test(value))
    return 'Write the whole address: 0x and 40 digits from 0 to f.';
  if (name === 'txHash' && !hash.test(value)) return 'Write the whole hash: 0x and 64 digits from 0 to f.';
  if (name === 'payerEmail' && !email.test(value)) return 'Write the whole address, such as ada@example.com.';
  if (name === 'metadata' && filteredMetadata(value) === undefined)
    return 'Write the name, = and the whole value, such as order=A-17.';
  return undefined;
}
