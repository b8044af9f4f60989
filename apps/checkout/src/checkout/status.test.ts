import assert from 'node:assert/strict';
import { test } from 'node:test';
import { en } from '../text/en.ts';
import { isAtEnd, wordsOf } from './status.ts';

test('a session is at its end when its status is final and no other money of it will move by itself', () => {
  const exception = {
    kind: 'late',
    tokenId: 'a',
    symbol: 'A',
    decimals: 6,
    amount: '1',
    heldUntil: 0,
  } as const;
  const cases = [
    ['initialized', [], false],
    ['settlement_pending', [], false],
    ['completed', [], true],
    ['expired', ['back', 'goes'], false],
    ['expired', ['back', 'waits_by_hand'], false],
    ['completed', ['second'], false],
    ['cancelled', ['back', 'by_hand', 'taken', 'closed'], true],
  ] as const;
  for (const [status, outcomes, isOver] of cases) {
    const exceptions = outcomes.map((outcome) => ({ ...exception, outcome }));
    assert.equal(isAtEnd({ status, exceptions }), isOver, status);
  }
});

test('a fully refunded payment is shown as refunded, and the page does not say that the merchant receives it', () => {
  const state = {
    sessionId: 'sess_1',
    isPayable: false,
    expiresAt: 0,
    amount: '4500000',
    initiateTx: '0xab',
    completeTx: '',
    pendingReason: '',
    paidAt: '2030-01-01T00:00:00.000Z',
    settledAt: '',
    exceptions: [],
  };
  const cases = [
    ['paid', '0', false, en.paid, en.paidHint],
    ['paid', '4500000', true, en.refundedInFull, undefined],
    ['settling', '4500000', true, en.refundedInFull, undefined],
    ['settlement_pending', '4500000', true, en.refundedInFull, undefined],
    ['completed', '0', false, en.completed, en.completedHint],
    ['completed', '1000000', false, en.completed, en.completedHint],
    ['completed', '4500000', true, en.refundedInFull, undefined],
  ] as const;
  for (const [status, refunded, isRefunded, title, hint] of cases) {
    const words = wordsOf({ texts: en }, { ...state, status, refunded, isRefunded }, 0);
    assert.deepEqual([words.title, words.hint], [title, hint], `${status} ${refunded}`);
  }
});
