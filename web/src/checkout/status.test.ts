import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isAtEnd } from './status.ts';

test('a session is at its end when its status is a last one and all other money of it is back', () => {
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
    ['expired', [true, false], false],
    ['cancelled', [true, true], true],
  ] as const;
  for (const [status, backs, isOver] of cases) {
    const exceptions = backs.map((isBack) => ({ ...exception, isBack }));
    assert.equal(isAtEnd({ status, exceptions }), isOver, status);
  }
});
