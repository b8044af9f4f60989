import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  formatUsd,
  maxMicroUsd,
  microUsd,
  microUsdToNumber,
  parseUsd,
  tokenAmount,
  toMicroUsd,
  toTokenAmount,
} from './money.ts';

const amounts = fc.bigInt({ min: 0n, max: maxMicroUsd });
const decimals = fc.integer({ min: 6, max: 18 });

test('Micro-USD to token units and back is the identity for 6 to 18 decimals', () => {
  fc.assert(
    fc.property(amounts, decimals, (amount, places) => {
      assert.equal(toMicroUsd(toTokenAmount(microUsd(amount), places), places), amount);
    }),
    { numRuns: 2000 },
  );
});

// proves S1.6, W3.3
test('one Micro-USD is one unit at 6 decimals and 10^12 units at 18', () => {
  assert.equal(toTokenAmount(microUsd(1n), 6), 1n);
  assert.equal(toTokenAmount(microUsd(1n), 18), 1_000_000_000_000n);
});

test('token units that are not whole Micro-USD have no Micro-USD amount', () => {
  assert.equal(toMicroUsd(tokenAmount(1_000_000_000_001n), 18), undefined);
});

// proves W3.3
test('fewer than 6 or more than 18 decimals are refused', () => {
  for (const places of [0, 2, 5, 19, 6.5, Number.NaN]) {
    assert.throws(() => toTokenAmount(microUsd(1n), places), RangeError);
  }
});

test('negative amounts are refused', () => {
  assert.throws(() => microUsd(-1n), RangeError);
  assert.throws(() => tokenAmount(-1n), RangeError);
});

// proves S1.6
test('dollars show two to six decimals', () => {
  const shown = [0n, 1n, 10_000n, 1_500_000n, 1_234_567n, 100n, 10_000_000_000_000n].map((value) =>
    formatUsd(microUsd(value)),
  );
  assert.deepEqual(shown, ['0.00', '0.000001', '0.01', '1.50', '1.234567', '0.0001', '10000000.00']);
});

test('dollars parse as they are formatted, and in no other spelling', () => {
  fc.assert(fc.property(amounts, (amount) => parseUsd(formatUsd(microUsd(amount))) === amount));
  assert.deepEqual(['1', '0.5', '10.25', '0'].map(parseUsd), [1_000_000n, 500_000n, 10_250_000n, 0n]);
  const others = ['', '.5', '1.', '01', '+1', '-1', '1e3', '1,5', ' 1', '1.0000001', '99999999999', '0x1'];
  assert.deepEqual(
    others.map(parseUsd),
    others.map(() => undefined),
  );
});

test('an amount beyond 2^53 never becomes a JSON number', () => {
  assert.equal(microUsdToNumber(microUsd(maxMicroUsd)), 10_000_000_000_000);
  assert.throws(() => microUsdToNumber(microUsd(2n ** 53n)), RangeError);
});
