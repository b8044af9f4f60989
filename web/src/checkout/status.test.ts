import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isAtEnd } from './status.ts';

test('a session is at its end when its status is a last one and no other money of it moves by itself any more', () => {
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
