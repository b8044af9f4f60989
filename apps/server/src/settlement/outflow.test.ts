import assert from 'node:assert/strict';
import { test } from 'node:test';
import { microUsd } from '@florin/protocol/money.ts';
import fc from 'fast-check';
import { outflowWithin } from './outflow.ts';

const caps = { perOrder: microUsd(10n), hourly: microUsd(20n), daily: microUsd(30n) };

/** What was paid in the last hour and day, a payout, and the cap that it exceeds. */
const rules: Readonly<
  Record<
    string,
    readonly [inHour: bigint, inDay: bigint, value: bigint, 'order' | 'hourly' | 'daily' | undefined]
  >
> = {
  'a payout up to the cap of an order passes': [0n, 0n, 10n, undefined],
  'a larger one exceeds it': [0n, 0n, 11n, 'order'],
  'the cap of an order is named before the others': [20n, 30n, 11n, 'order'],
  'a payout that fills the hour passes': [10n, 10n, 10n, undefined],
  'one unit more exceeds the hour': [11n, 11n, 10n, 'hourly'],
  'a payout that fills the day passes': [0n, 20n, 10n, undefined],
  'one unit more exceeds the day': [0n, 21n, 10n, 'daily'],
};

for (const [rule, [inHour, inDay, value, exceeded]] of Object.entries(rules)) {
  test(rule, () => assert.equal(outflowWithin(caps, { inHour, inDay }).excessOf(value), exceeded));
}

test('without caps nothing is exceeded', () => {
  const outflow = outflowWithin(undefined, { inHour: 0n, inDay: 0n });
  outflow.add(10n ** 30n);
  assert.equal(outflow.excessOf(10n ** 30n), undefined);
});

test('payouts that pass never exceed the caps together', () => {
  const amount = fc.bigInt({ min: 0n, max: 25n });
  fc.assert(
    fc.property(amount, amount, fc.array(amount, { maxLength: 30 }), (inHour, earlier, payouts) => {
      const outflow = outflowWithin(caps, { inHour, inDay: inHour + earlier });
      let paid = 0n;
      for (const value of payouts) {
        if (outflow.excessOf(value) !== undefined) continue;
        outflow.add(value);
        paid += value;
        assert.ok(inHour + paid <= caps.hourly && inHour + earlier + paid <= caps.daily);
      }
    }),
  );
});
