import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PaymentException } from '@florin/protocol/exception.ts';
import { shownExceptions, type UnappliedOutcome, unappliedOutcomeOf } from './outcome.ts';
import { heldUntilOf } from './state.ts';

const exception: PaymentException = {
  exceptionId: 'exc_1',
  kind: 'wrong_token',
  orderId: '0x1',
  payer: '0x',
  tokenId: 'ethereum::usdc',
  amountInToken: '1000000',
  txHash: '',
  sessionId: 'sess_1',
  status: 'open',
  resolvedTx: '',
  isGone: false,
  decision: '',
  decideBy: '',
  createAt: '',
  updateAt: '',
};
const least = 1_000_000n;
const outcome = (
  changes: Partial<PaymentException>,
  facts: { decimals?: number; least?: bigint | undefined } = {},
) =>
  unappliedOutcomeOf(
    { ...exception, ...changes },
    { token: { decimals: facts.decimals ?? 6 }, least: 'least' in facts ? facts.least : least },
  );

test('each kind of unapplied money tells the payer its outcome', () => {
  const decideBy = '2030-01-01T00:00:00';
  const cases: [changes: Partial<PaymentException>, outcome: UnappliedOutcome][] = [
    [{}, 'goes'],
    [{ amountInToken: '999999' }, 'by_hand'],
    [{ kind: 'overpaid', amountInToken: '500000' }, 'by_hand'],
    [{ kind: 'underpaid' }, 'goes'],
    [{ kind: 'underpaid', amountInToken: '500000' }, 'by_hand'],
    [{ kind: 'late' }, 'goes'],
    [{ kind: 'late', decideBy }, 'waits'],
    [{ kind: 'late', decideBy, amountInToken: '500000' }, 'waits_by_hand'],
    [{ kind: 'late', decideBy, decision: 'refund' }, 'goes_later'],
    [{ kind: 'late', decideBy, decision: 'refund', amountInToken: '500000' }, 'by_hand'],
    [{ kind: 'late', decideBy, decision: 'accept' }, 'accepted'],
    [{ kind: 'underpaid', decision: 'accept', amountInToken: '500000' }, 'accepted'],
    [{ kind: 'late', decision: 'accept', status: 'resolved', resolvedTx: '0xab' }, 'back'],
    [{ kind: 'duplicate' }, 'goes'],
    [{ kind: 'duplicate', amountInToken: '500000' }, 'by_hand'],
    [{ kind: 'duplicate', txHash: '0xab', amountInToken: '500000' }, 'second'],
    [{ kind: 'duplicate_settled', txHash: '0xab' }, 'taken'],
    [{ kind: 'duplicate_settled', txHash: '0xab', status: 'resolved' }, 'taken'],
    [{ kind: 'duplicate_settled', txHash: '0xab', status: 'resolved', resolvedTx: '0xcd' }, 'back'],
    [{ status: 'resolved', resolvedTx: '0xab' }, 'back'],
    [{ status: 'resolved' }, 'goes'],
    [{ status: 'resolved', amountInToken: '999999' }, 'by_hand'],
    [{ kind: 'late', decideBy, status: 'resolved' }, 'goes_later'],
    [{ kind: 'late', decideBy, decision: 'refund', status: 'resolved' }, 'goes_later'],
    [{ kind: 'duplicate', txHash: '0xab', status: 'resolved' }, 'closed'],
  ];
  for (const [changes, wanted] of cases) assert.equal(outcome(changes), wanted, JSON.stringify(changes));
});

test('money that is not back is held until the time to decide is over, whatever the merchant marked', () => {
  const decideBy = '2030-01-01T00:00:00';
  const marked = { ...exception, kind: 'late', decideBy, status: 'resolved' } as const;
  assert.equal(heldUntilOf(marked), 1_893_456_000);
  assert.equal(heldUntilOf({ ...marked, resolvedTx: '0xab' }), 0);
});

test('the minimum for sending back is in dollars for all decimals; nothing goes back where the service sends nothing', () => {
  assert.equal(outcome({ amountInToken: `1${'0'.repeat(18)}` }, { decimals: 18 }), 'goes');
  assert.equal(outcome({ amountInToken: `9${'9'.repeat(17)}` }, { decimals: 18 }), 'by_hand');
  assert.equal(outcome({}, { least: undefined }), 'by_hand');
  assert.equal(outcome({ kind: 'duplicate', txHash: '0xab' }, { least: undefined }), 'second');
});

test('a second payment that the merchant accepted is shown once, and not as returned', () => {
  const second = { ...exception, kind: 'duplicate', txHash: '0xab' } as const;
  const taken = { ...second, exceptionId: 'exc_2', kind: 'duplicate_settled' } as const;
  const other = { ...second, exceptionId: 'exc_3', orderId: '0x2' } as const;
  assert.deepEqual(
    shownExceptions([second, other, taken]).map(({ exceptionId }) => exceptionId),
    ['exc_3', 'exc_2'],
  );
});
