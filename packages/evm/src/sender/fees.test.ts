import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { initialFees, isOutbid, raisedFees, tipOf } from './fees.ts';

const wei = fc.bigInt({ min: 0n, max: 10n ** 15n });
const market = fc.record({ nextBaseFee: wei, tip: wei });

test('a fee never exceeds the cap, and its priority fee never exceeds the fee', () => {
  fc.assert(
    fc.property(market, wei, (now, cap) => {
      const { maxFee, priorityFee } = initialFees(now, cap);
      assert.ok(maxFee <= cap && priorityFee <= maxFee);
    }),
  );
});

test('a replacement raises both fees by at least an eighth and stays under the cap, or is not made', () => {
  fc.assert(
    fc.property(market, market, wei, (then, now, cap) => {
      const last = initialFees(then, cap);
      const fees = raisedFees(last, now, cap);
      if (fees === undefined) {
        assert.ok(last.maxFee * 9n > cap * 8n - 18n, 'there was room for a raise');
        return;
      }
      assert.ok(fees.maxFee * 8n >= last.maxFee * 9n && fees.priorityFee * 8n >= last.priorityFee * 9n);
      assert.ok(fees.maxFee > last.maxFee && fees.priorityFee > last.priorityFee);
      assert.ok(fees.maxFee <= cap && fees.priorityFee <= fees.maxFee);
    }),
  );
});

test('a replacement pays the market price if that is more than an eighth higher', () => {
  assert.deepEqual(raisedFees({ maxFee: 100n, priorityFee: 1n }, { nextBaseFee: 1_000n, tip: 7n }, 10_000n), {
    maxFee: 2_007n,
    priorityFee: 7n,
  });
});

test('the priority fee is the median of recent blocks, and at least the floor', () => {
  assert.equal(tipOf([9n, 1n, 5n], 2n), 5n);
  assert.equal(tipOf([], 2n), 2n);
  assert.equal(tipOf([1n, 1n, 1n], 2n), 2n);
});

test('a raised fee is not below the market that it was made for, and one raise meets any jump', () => {
  fc.assert(
    fc.property(market, market, (then, now) => {
      const cap = 10n ** 18n;
      const last = initialFees(then, cap);
      assert.ok(!isOutbid(last, then));
      const fees = raisedFees(last, now, cap);
      assert.ok(fees !== undefined && !isOutbid(fees, now));
    }),
  );
});
