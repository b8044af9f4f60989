import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { amountsOf, amountsOfTotal, feeOf, leastPriceOf } from './fee.ts';
import { maxMicroUsd, microUsd } from './money.ts';

const prices = fc.bigInt({ min: 1n, max: maxMicroUsd });
const rates = fc.integer({ min: 0, max: 1_000_000 });
const models = fc.constantFrom(1 as const, 2 as const);

// proves W3.4
test('the fee is rounded up to the next Micro-USD, once', () => {
  assert.deepEqual(
    [
      feeOf(microUsd(1n), 2000),
      feeOf(microUsd(500n), 2000),
      feeOf(microUsd(501n), 2000),
      feeOf(microUsd(1_000_000n), 2000),
    ],
    [1n, 1n, 2n, 2000n],
  );
});

// proves S2.20, W3.5
test('fee = total - net and total covers the price without a surplus unit, for every price, rate and model', () => {
  fc.assert(
    fc.property(prices, rates, models, (price, ppm, model) => {
      const amounts = amountsOf(microUsd(price), ppm, model);
      assert.equal(amounts.feeValue, amounts.totalValue - amounts.netValue);
      assert.equal(amounts.paymentValue, price);
      assert.equal(model === 1 ? amounts.totalValue : amounts.netValue, price);
      assert.ok(amounts.feeValue * 1_000_000n >= price * BigInt(ppm));
      assert.ok((amounts.feeValue - 1n) * 1_000_000n < price * BigInt(ppm));
    }),
    { numRuns: 20_000 },
  );
});

// proves W3.2
test('a total that the payer chose is split without losing a unit', () => {
  fc.assert(
    fc.property(prices, rates, models, (total, ppm, model) => {
      const amounts = amountsOfTotal(microUsd(total), ppm, model);
      assert.equal(amounts.totalValue, total);
      assert.equal(amounts.feeValue, amounts.totalValue - amounts.netValue);
      assert.ok(amounts.netValue >= 0n && amounts.paymentValue <= total);
      // The price is the highest that the total covers with its fee: one Micro-USD more would exceed it.
      const share = model === 1 ? 1_000_000n : 1_000_000n + BigInt(ppm);
      assert.ok(amounts.paymentValue * share <= total * 1_000_000n);
      assert.ok((amounts.paymentValue + 1n) * share > total * 1_000_000n);
      if (model === 1) assert.deepEqual(amounts, amountsOf(microUsd(total), ppm, 1));
    }),
    { numRuns: 20_000 },
  );
});

test('the least price leaves the merchant a positive amount, and one Micro-USD less leaves zero', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 999_999 }), models, (ppm, model) => {
      const least = leastPriceOf(ppm, model) ?? 0n;
      assert.ok(amountsOf(microUsd(least), ppm, model).netValue > 0n);
      assert.equal(amountsOf(microUsd(least - 1n), ppm, model).netValue, 0n);
    }),
    { numRuns: 20_000 },
  );
  assert.deepEqual([leastPriceOf(1_000_000, 1), leastPriceOf(1_000_000, 2)], [undefined, 1n]);
});

test('a rate outside 0 to one million is refused', () => {
  for (const ppm of [-1, 1_000_001, 0.5, Number.NaN])
    assert.throws(() => feeOf(microUsd(1n), ppm), RangeError);
});
