import assert from 'node:assert/strict';
import { test } from 'node:test';
import { timelineEntries } from './timeline-entries.ts';

const event = (type: string, at: string) => ({ eventId: `evt_${type}`, type, at: `2026-11-23 20:${at}` });
const chainEvent = (name: string, at: string) => ({
  ...{ name, chainId: '1', txHash: `0x${name}`, blockNumber: 7, isFinal: true },
  at: `2026-11-23 20:${at}`,
});
const told = (history: Parameters<typeof timelineEntries>[0]) =>
  timelineEntries(history, []).map(({ title, transaction }) => [title, transaction?.txHash]);

test('a transaction stands with the event that tells of it, though its chain’s time runs ahead', () => {
  const entries = told({
    events: [
      event('session.created', '00:00'),
      event('session.payment_detected', '01:00'),
      event('session.paid', '01:30'),
      event('session.completed', '02:00'),
    ],
    chainEvents: [chainEvent('Paid', '01:40'), chainEvent('Settled', '02:10')],
  });
  assert.deepEqual(entries, [
    ['Order opened', undefined],
    ['Payment seen on the chain', '0xPaid'],
    ['Payment is final', undefined],
    ['Settled to your wallet', '0xSettled'],
  ]);
});

test('a payment across chains has two transactions, and an expired session the one that sent a deposit back', () => {
  const across = told({
    events: [event('session.payment_detected', '01:00'), event('session.completed', '03:00')],
    chainEvents: [
      chainEvent('Paid', '01:00'),
      chainEvent('Settled', '02:00'),
      chainEvent('PaidOut', '03:00'),
    ],
  });
  assert.deepEqual(across, [
    ['Payment seen on the chain', '0xPaid'],
    ['Gateway settled', '0xSettled'],
    ['Settled to your wallet', '0xPaidOut'],
  ]);
  const expired = told({
    events: [event('session.expired', '01:00')],
    chainEvents: [chainEvent('Rescued', '02:00')],
  });
  assert.deepEqual(expired, [
    ['Expired', undefined],
    ['Deposit sent back', '0xRescued'],
  ]);
});
