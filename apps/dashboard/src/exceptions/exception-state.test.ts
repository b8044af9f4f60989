import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PaymentException } from '@florin/protocol/exception.ts';
import { exceptionState, isToReturn } from './exception-state.ts';

const late: PaymentException = {
  exceptionId: 'exc_1',
  kind: 'late',
  orderId: '0x00',
  payer: '0x00',
  tokenId: 'base::usdc',
  amountInToken: '25000000',
  txHash: '',
  decision: '',
  decideBy: '2026-11-23 12:00:00',
  sessionId: 'sess_1',
  status: 'open',
  resolvedTx: '',
  isGone: false,
  createAt: '2026-11-23 10:00:00',
  updateAt: '2026-11-23 10:00:00',
};
const before = new Date('2026-11-23T11:59:59Z');
const after = new Date('2026-11-23T12:00:01Z');

test('late money can be decided until its time, and not after a decision', () => {
  assert.equal(exceptionState(late, before).canDecide, true);
  assert.equal(exceptionState(late, after).canDecide, false);
  assert.equal(exceptionState({ ...late, decision: 'accept' }, before).text, 'Accepted');
  assert.equal(exceptionState({ ...late, decision: 'refund' }, before).text, 'Goes back');
  const marked = exceptionState({ ...late, status: 'resolved' }, before);
  assert.deepEqual(
    [marked.canDecide, marked.text, marked.next],
    [
      false,
      'Marked as resolved',
      'It was marked as resolved. Money that is still at its deposit address goes back to its payer.',
    ],
  );
});

test('money that the chain took back for good asks for nothing, and goes back to no payer', () => {
  const { text, next, canDecide } = exceptionState({ ...late, status: 'resolved', isGone: true }, before);
  assert.deepEqual([text, canDecide], ['Gone', false]);
  assert.match(next, /^The chain took the money back/);
});

test('a second payment that was settled is for the merchant to return', () => {
  const settled = { ...late, kind: 'duplicate_settled' as const, decideBy: '' };
  assert.equal(exceptionState(settled, before).text, 'Return it');
  assert.deepEqual([isToReturn(settled), isToReturn({ ...settled, kind: 'duplicate' })], [true, false]);
  const announced = {
    ...settled,
    kind: 'duplicate' as const,
    status: 'resolved' as const,
    resolvedTx: '0x01',
  };
  assert.match(exceptionState(announced, before).next, /If it was settled to you first/);
  const back = { ...settled, status: 'resolved' as const, resolvedTx: '0x01' };
  assert.equal(isToReturn(back), false);
  const accepted = { ...late, decision: 'accept' as const, status: 'resolved' as const, resolvedTx: '0x01' };
  assert.equal(exceptionState(accepted, before).text, 'Became the payment');
  assert.deepEqual(
    [exceptionState(back, before).text, exceptionState(back, before).next],
    ['Went back', 'The money is back with its payer.'],
  );
});
