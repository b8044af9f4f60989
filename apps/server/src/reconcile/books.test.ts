import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Balance, Holder } from './balance.ts';
import {
  type Comparison,
  compareBalances,
  isDifferent,
  isRereadDue,
  openBooks,
  openingPostings,
} from './books.ts';

const asset = 'ethereum::usdc';
const balance = (holder: Holder, amount: bigint, of = asset): Balance => ({ holder, asset: of, amount });
const compared = (holder: Holder, ledger: bigint, chain: bigint): Comparison => ({
  holder,
  asset,
  ledger,
  chain,
});

test('each balance is compared with the books of its own holder and token', () => {
  const books = [balance('gateway', 5n), balance('vault', 7n), balance('gateway', 9n, 'ethereum::usdt')];
  const onChain = [balance('gateway', 5n), balance('gateway', 8n, 'ethereum::usdt')];
  assert.deepEqual(compareBalances(books, onChain), [
    compared('gateway', 5n, 5n),
    { ...compared('gateway', 9n, 8n), asset: 'ethereum::usdt' },
  ]);
});

test('a balance that the books do not have counts as zero', () => {
  assert.deepEqual(compareBalances([], [balance('fees', 3n)]), [compared('fees', 0n, 3n)]);
});

/** What the ledger and the chain have, whether the balance was compared before, and what is booked. */
const openings: Readonly<
  Record<string, readonly [ledger: bigint, chain: bigint, isOpen: boolean, booked: bigint[]]>
> = {
  'a first difference opens the books': [0n, 9n, false, [9n]],
  'books may open with less than the ledger has': [9n, 4n, false, [-5n]],
  'a first agreement needs no entry': [9n, 9n, false, []],
  'a later difference is never booked away': [0n, 9n, true, []],
  'a later agreement needs no entry': [9n, 9n, true, []],
};

for (const [rule, [ledger, chain, isOpen, booked]] of Object.entries(openings)) {
  test(rule, () => {
    const comparison = compared('vault', ledger, chain);
    const result = openBooks([comparison], new Set(isOpen ? [`vault ${asset}`] : []));
    assert.deepEqual(
      result.openings,
      booked.map((amount) => balance('vault', amount)),
    );
    assert.deepEqual(result.opened, [booked.length === 0 ? comparison : { ...comparison, ledger: chain }]);
  });
}

test('an open balance of another holder or token opens nothing else', () => {
  const open = new Set([`gateway ${asset}`, 'vault ethereum::usdt']);
  assert.deepEqual(openBooks([compared('vault', 0n, 2n)], open).openings, [balance('vault', 2n)]);
});

const chain = { name: 'ethereum' };
const postings: Readonly<Record<Holder, readonly [string, bigint][]>> = {
  gateway: [
    ['gateway:ethereum', 5n],
    ['unmatched', -5n],
  ],
  vault: [
    ['vault:ethereum', 5n],
    ['float', -5n],
  ],
  fees: [
    ['fees', -5n],
    ['unmatched', 5n],
  ],
};

for (const holder of ['gateway', 'vault', 'fees'] as const) {
  test(`an opening of ${holder} is booked against ${postings[holder][1]?.[0]}`, () => {
    assert.deepEqual(
      openingPostings(chain, balance(holder, 5n)),
      postings[holder].map(([account, amount]) => ({ account, asset, amount })),
    );
  });
}

test('after the openings no balance that was new differs, and every entry sums to zero', () => {
  const comparison = fc.record({
    holder: fc.constantFrom<Holder>('gateway', 'vault', 'fees'),
    asset: fc.constantFrom('a', 'b'),
    ledger: fc.bigInt({ min: -5n, max: 5n }),
    chain: fc.bigInt({ min: 0n, max: 5n }),
  });
  const keys = fc.uniqueArray(fc.constantFrom<string>('gateway a', 'vault b', 'fees a'));
  fc.assert(
    fc.property(fc.array(comparison), keys, (comparisons, open: string[]) => {
      const result = openBooks(comparisons, new Set(open));
      const drifted = result.opened.filter(isDifferent);
      assert.ok(drifted.every((each) => open.includes(`${each.holder} ${each.asset}`)));
      assert.equal(result.openings.length, comparisons.filter(isDifferent).length - drifted.length);
      for (const opening of result.openings) {
        const sum = openingPostings(chain, opening).reduce((total, { amount }) => total + amount, 0n);
        assert.equal(sum, 0n);
      }
    }),
  );
});

test('blocks are read again at the first, second, fourth and eighth check with a difference', () => {
  const runs = Array.from({ length: 16 }, (_, index) => index + 1);
  assert.deepEqual(runs.filter(isRereadDue), [1, 2, 4, 8, 16]);
});
