import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { budgetVerdict, type GasVerdict, gasOf } from './deposit-gas.ts';

const budget = 1_000n;

/** What was spent by all and by this payer, the move, its gas, and the verdict. */
const rules: Readonly<
  Record<
    string,
    readonly [byOwner: bigint, byPayer: bigint, 'collect' | 'rescue' | 'add', bigint, GasVerdict]
  >
> = {
  'a collection that uses the budget up is made': [900n, 900n, 'collect', 100n, 'within'],
  'one unit more waits': [901n, 0n, 'collect', 100n, 'owner_used_up'],
  'an addition has no share of a payer': [500n, 500n, 'add', 400n, 'within'],
  'a payer’s first return may use all that is left': [900n, 0n, 'rescue', 100n, 'within'],
  'not even a first return exceeds the budget': [901n, 0n, 'rescue', 100n, 'owner_used_up'],
  'a second return within the payer’s share is made': [100n, 20n, 'rescue', 30n, 'within'],
  'a second return above the payer’s share waits': [100n, 20n, 'rescue', 31n, 'payer_used_up'],
  'a second return in the first half of the budget is made': [470n, 10n, 'rescue', 30n, 'within'],
  'a second return beyond it waits': [471n, 10n, 'rescue', 30n, 'payer_used_up'],
};

for (const [rule, [byOwner, byPayer, move, gas, verdict]] of Object.entries(rules)) {
  test(rule, () => assert.equal(budgetVerdict(budget, { byOwner, byPayer }, { move, gas }), verdict));
}

test('an addition counts with the gas of its collection', () => {
  assert.deepEqual(
    [gasOf('add', 50_000n), gasOf('collect', 50_000n), gasOf('rescue', 50_000n)],
    [250_000n, 50_000n, 50_000n],
  );
});

test('returns never exceed the budget, and no payer’s repeated returns exceed a share', () => {
  const returns = fc.array(fc.record({ payer: fc.nat(3), gas: fc.bigInt({ min: 1n, max: 200n }) }), {
    maxLength: 60,
  });
  fc.assert(
    fc.property(returns, (requested) => {
      const byPayer = new Map<number, bigint>();
      let byOwner = 0n;
      for (const { payer, gas } of requested) {
        const before = byPayer.get(payer) ?? 0n;
        if (budgetVerdict(budget, { byOwner, byPayer: before }, { move: 'rescue', gas }) !== 'within')
          continue;
        byOwner += gas;
        byPayer.set(payer, before + gas);
        assert.ok(byOwner <= budget);
        assert.ok(before === 0n || before + gas <= budget / 20n);
      }
    }),
  );
});
