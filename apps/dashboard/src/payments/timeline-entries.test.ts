import assert from 'node:assert/strict';
import { test } from 'node:test';
import { timelineEntries } from './timeline-entries.ts';

const usdc = {
  ...{ tokenId: 'base::usdc', symbol: 'USDC', decimals: 6, address: '0x', chainId: '1', network: 'Base' },
  explorer: 'https://basescan.org',
  closedReason: '' as const,
};
const event = (type: string, at: string) => ({ eventId: `evt_${type}`, type, at: `2026-11-23 20:${at}` });
const chainEvent = (name: string, at: string) => ({
  ...{ name, chainId: '1', txHash: `0x${name}`, blockNumber: 7, isFinal: true },
  at: `2026-11-23 20:${at}`,
});
type History = Parameters<typeof timelineEntries>[0];
const told = ({
  droppedEvents = [],
  transfers = [],
  refunds = [],
  exceptions = [],
  ...history
}: Omit<History, 'droppedEvents' | 'transfers' | 'refunds' | 'exceptions'> & Partial<History>) =>
  timelineEntries({ ...history, droppedEvents, transfers, refunds, exceptions }, [usdc]).map(
    ({ title, transaction }) => [title, transaction?.txHash],
  );

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

test('a transaction that no event tells of stands in the order of its chain’s blocks, though events came later than blocks', () => {
  const entries = told({
    events: [event('session.paid', '01:30'), event('session.completed', '03:00')],
    chainEvents: [
      { ...chainEvent('Settled', '02:00'), blockNumber: 269 },
      { ...chainEvent('Rescued', '02:30'), blockNumber: 274 },
    ],
  });
  assert.deepEqual(entries, [
    ['Payment is final', undefined],
    ['Settled to your wallet', '0xSettled'],
    ['Deposit sent back', '0xRescued'],
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

test('parts that went back are told apart by their amounts', () => {
  const refund = {
    ...{ refundId: 'rfd_1', sessionId: 'sess_1', orderId: '0x1', exceptionId: '', reason: '' },
    ...{ cancelledAt: '', createAt: '', updateAt: '' },
    status: 'completed' as const,
  };
  const back = (txHash: string, at: string) => ({ ...chainEvent('SettlementRefunded', at), txHash });
  const entries = told({
    events: [],
    chainEvents: [back('0xa', '01:00'), back('0xb', '02:00'), back('0xc', '03:00')],
    refunds: [
      { ...refund, amount: 1_000_000, txHash: '0xa' },
      { ...refund, amount: 2_500_000, txHash: '0xb' },
    ],
  });
  assert.deepEqual(entries, [
    ['$1.00 · Refunded after the settlement', '0xa'],
    ['$2.50 · Refunded after the settlement', '0xb'],
    ['Refunded after the settlement', '0xc'],
  ]);
});

test('each transfer of a payment in parts stands before what it brought about', () => {
  const transfer = (part: string, at: string) => ({
    ...{
      tokenId: 'base::usdc',
      amountInToken: `${part}000000`,
      chainId: '1',
      blockNumber: 7,
      isFinal: false,
    },
    ...{ txHash: `0x${part}`, at: `2026-11-23 20:${at}` },
  });
  const entries = told({
    events: [event('session.created', '00:00'), event('session.payment_detected', '02:00')],
    chainEvents: [chainEvent('Paid', '02:00')],
    transfers: [transfer('12', '00:00'), transfer('13', '02:00')],
  });
  assert.deepEqual(entries, [
    ['Order opened', undefined],
    ['12.00 USDC arrived by transfer', '0x12'],
    ['13.00 USDC arrived by transfer', '0x13'],
    ['Payment seen on the chain', '0xPaid'],
  ]);
});

test('an exception is told by what came, and leads to its own page', () => {
  const exception = {
    ...{
      exceptionId: 'exc_1',
      kind: 'underpaid' as const,
      orderId: '0x1',
      payer: '0x',
      txHash: '',
      decision: '' as const,
    },
    ...{
      tokenId: 'base::usdc',
      amountInToken: '15000000',
      decideBy: '',
      sessionId: 'sess_1',
      resolvedTx: '0x2',
    },
    ...{ status: 'resolved' as const, isGone: false },
    ...{ createAt: '2026-11-23 20:02:00', updateAt: '2026-11-23 20:03:00' },
  };
  const events = [event('session.expired', '01:00'), event('session.exception', '02:00')];
  const history = {
    events,
    chainEvents: [],
    droppedEvents: [],
    transfers: [],
    refunds: [],
    exceptions: [exception],
  };
  assert.deepEqual(
    timelineEntries(history, [usdc]).map(({ title, exceptionId }) => [title, exceptionId]),
    [
      ['Expired', undefined],
      ['Too little came: 15.00 USDC', 'exc_1'],
    ],
  );
});

test('what a reorg below finality took back stays where it was told, is marked as gone, and its loss is an entry', () => {
  const lost = (name: string, at: string, blockNumber: number) => {
    const { isFinal: _isFinal, ...dropped } = chainEvent(name, at);
    return { ...dropped, blockNumber, txHash: `0xlost${name}`, droppedAt: '2026-11-23 20:05:00' };
  };
  const history = {
    events: [
      event('session.payment_detected', '01:00'),
      event('session.completed', '02:00'),
      event('session.settlement_pending', '05:00'),
      { ...event('session.completed', '08:00'), eventId: 'evt_again' },
    ],
    chainEvents: [
      { ...chainEvent('Paid', '06:00'), blockNumber: 6 },
      { ...chainEvent('Settled', '07:00'), blockNumber: 7 },
    ],
    droppedEvents: [
      lost('Paid', '01:00', 5),
      lost('Settled', '02:00', 8),
      lost('SettlementRefunded', '03:00', 9),
    ],
    ...{ transfers: [], refunds: [], exceptions: [] },
  };
  assert.deepEqual(
    timelineEntries(history, [usdc]).map(({ title, transaction }) => [
      title,
      transaction?.txHash,
      transaction?.isGone,
    ]),
    [
      ['Payment seen on the chain', '0xlostPaid', true],
      ['Settled to your wallet', '0xlostSettled', true],
      ['Refunded after the settlement', '0xlostSettlementRefunded', true],
      ['The chain took back the payment, the settlement, a refund', undefined, undefined],
      ['Settlement delayed', undefined, undefined],
      ['Paid into the gateway', '0xPaid', false],
      ['Settled to your wallet', '0xSettled', false],
    ],
  );
});
