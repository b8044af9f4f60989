import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Hex } from '@florin/protocol/order.ts';
import fc from 'fast-check';
import { takeFrom } from './vault-limit.ts';

const idOf = (number: number): Hex => `0x${String(number).padStart(64, '0')}`;
const own = idOf(1);
const other = idOf(2);

/** What is left, the caps' largest payout, the order that the rest is kept for, an amount, and what becomes of it. */
const rules: Readonly<
  Record<string, readonly [bigint, bigint, Hex | '', bigint, ReturnType<typeof takeFrom>]>
> = {
  'a payout of all that is left is made': [5n, 9n, '', 5n, 'taken'],
  'a payout of more waits': [5n, 9n, '', 6n, 'short'],
  'a payout above the caps waits for higher caps, however much is left': [99n, 9n, '', 10n, 'over_caps'],
  'the largest payout that the caps allow is made': [99n, 9n, '', 9n, 'taken'],
  'what is kept for one order is not given to another': [5n, 9n, other, 1n, 'short'],
  'what is kept for an order is given to it': [5n, 9n, own, 5n, 'taken'],
  'an order for which the rest is kept still waits for more': [5n, 9n, own, 6n, 'short'],
};

for (const [rule, [left, largest, keptFor, amount, outcome]] of Object.entries(rules)) {
  test(rule, () => {
    const limit = { left, largest, keptFor };
    assert.equal(takeFrom(limit, { orderId: own, amount }), outcome);
    assert.equal(limit.left, outcome === 'taken' ? left - amount : left, 'only a payout that is made counts');
  });
}

test('payouts that are taken together are never more than what was left', () => {
  const amounts = fc.array(fc.bigInt({ min: 0n, max: 50n }), { maxLength: 30 });
  const bound = fc.bigInt({ min: 0n, max: 200n });
  fc.assert(
    fc.property(bound, bound, amounts, (left, largest, payouts) => {
      const limit = { left, largest, keptFor: '' };
      const taken = payouts.filter((amount) => takeFrom(limit, { orderId: own, amount }) === 'taken');
      const sum = taken.reduce((total, amount) => total + amount, 0n);
      assert.ok(sum <= left && taken.every((amount) => amount <= largest));
      assert.equal(limit.left, left - sum);
    }),
  );
});
