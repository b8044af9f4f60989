import assert from 'node:assert/strict';
import { test } from 'node:test';
import { amountsOf } from '@florin/protocol/fee.ts';
import { microUsd } from '@florin/protocol/money.ts';
import fc from 'fast-check';
import type { DepositPolicy } from './context.ts';
import { tolerancesOf } from './deposit-terms.ts';

const silent: DepositPolicy = {
  underpaidPpm: 0,
  underpaidAmount: undefined,
  latePayment: 'return',
  lateHours: 24,
  addedAboveFee: microUsd(0n),
  addedPerDay: microUsd(0n),
};
/** 100 USD, of which 0.20 are the fee. */
const amounts = amountsOf(microUsd(100_000_000n), 2_000, 1);
const toleranceOf = (policy: Partial<DepositPolicy>, given?: Parameters<typeof tolerancesOf>[1]) =>
  tolerancesOf({ ...silent, ...policy }, given, amounts).tolerance;

const cases: [string, bigint, bigint][] = [
  ['without a policy nothing may be missing', toleranceOf({}), 0n],
  ['a link without a policy has the installation’s', toleranceOf({ underpaidPpm: 1_000 }, {}), 100_000n],
  [
    'the smaller of share and amount counts',
    toleranceOf({}, { underpaidPpm: 2_000, underpaidAmount: 7 }),
    7n,
  ],
  ['an amount without a share counts up to the cap', toleranceOf({}, { underpaidAmount: 150_000 }), 150_000n],
  ['the operator adds at most the fee', toleranceOf({}, { underpaidPpm: 100_000 }), 200_000n],
  [
    'the operator can allow more than the fee',
    toleranceOf({ addedAboveFee: microUsd(300_000n) }, { underpaidPpm: 100_000 }),
    500_000n,
  ],
  [
    'a link can set a smaller tolerance than the installation',
    toleranceOf({ underpaidPpm: 2_000 }, { underpaidPpm: 0 }),
    0n,
  ],
];
for (const [rule, found, expected] of cases) test(rule, () => assert.equal(found, expected));

test('the tolerance is at most the cap, and the cap at most fee and allowance and a tenth of the total', () => {
  const money = fc.bigInt({ min: 0n, max: 1_000_000_000n });
  fc.assert(
    fc.property(
      fc.bigInt({ min: 1n, max: 1_000_000_000n }),
      fc.integer({ min: 0, max: 10_000 }),
      money,
      fc.integer({ min: 0, max: 100_000 }),
      fc.option(fc.integer({ min: 0, max: 1_000_000_000 })),
      (price, ppm, addedAboveFee, underpaidPpm, underpaidAmount) => {
        const paid = amountsOf(microUsd(price), ppm, 2);
        const policy = { ...silent, addedAboveFee: microUsd(addedAboveFee) };
        const given = { underpaidPpm, ...(underpaidAmount === null ? {} : { underpaidAmount }) };
        const { tolerance, mostAdded } = tolerancesOf(policy, given, paid);
        assert.ok(0n <= tolerance && tolerance <= mostAdded);
        assert.ok(mostAdded <= paid.feeValue + addedAboveFee && mostAdded * 10n <= paid.totalValue);
        assert.ok(tolerance * 1_000_000n <= paid.totalValue * BigInt(underpaidPpm));
      },
    ),
  );
});
