import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { chooseGroups, isGathering } from './batch.ts';
import type { LegName } from './leg.ts';

const itemsOf = (keys: readonly string[]) => keys.map((key, age) => ({ key, age }));
const keysOf = (items: readonly { key: string }[]) => items.map(({ key }) => key).join('');

/** Keys of the items from the oldest on, how many fit, and the keys that are chosen. */
const choices: Readonly<Record<string, readonly [keys: string, count: number, chosen: string]>> = {
  'nothing is chosen from nothing': ['', 3, ''],
  'items that share the oldest item’s transfer come first': ['abaca', 3, 'aaa'],
  'the next oldest item follows with its own': ['abacb', 4, 'aabb'],
  'a group that does not fit is cut': ['aaabb', 4, 'aaab'],
  'a single place goes to the oldest item': ['abbb', 1, 'a'],
};

for (const [rule, [keys, count, chosen]] of Object.entries(choices)) {
  test(rule, () => {
    assert.equal(keysOf(chooseGroups(itemsOf([...keys]), ({ key }) => key, count)), chosen);
  });
}

test('the chosen items fit, each is chosen once, the oldest always, and none before an older one of its group', () => {
  const keys = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(keys, fc.integer({ min: 1, max: 50 }), (given, count) => {
      const items = itemsOf(given);
      const chosen = chooseGroups(items, ({ key }) => key, count);
      assert.equal(chosen.length, Math.min(count, items.length));
      assert.equal(new Set(chosen).size, chosen.length);
      assert.equal(chosen[0], items[0]);
      for (const item of chosen) {
        const elders = items.filter(({ key, age }) => key === item.key && age < item.age);
        assert.ok(elders.every((elder) => chosen.includes(elder)));
      }
    }),
  );
});

const createdAt = new Date(0);
const due = (name: LegName, attempts = 0) => ({ name, attempts, createdAt });
const window = { windowSeconds: 60, batchSize: 3 };

/** The legs, their age in seconds, the settings, and whether the legs wait for others. */
const gatherings: Readonly<
  Record<
    string,
    readonly [legs: readonly ReturnType<typeof due>[], seconds: number, is: boolean, of?: typeof window]
  >
> = {
  'a young settlement waits': [[due('settle')], 59.999, true],
  'a young payout waits': [[due('payout')], 0, true],
  'after the window it is sent': [[due('settle')], 60, false],
  'a full batch is sent at once': [[due('settle'), due('settle'), due('settle')], 0, false],
  'a leg that failed before does not wait again': [[due('settle'), due('settle', 1)], 0, false],
  'a mint never waits': [[due('mint')], 0, false],
  'a refund never waits': [[due('refund')], 0, false],
  'without a window nothing waits, not even by a clock that runs behind': [
    [due('settle')],
    -5,
    false,
    { ...window, windowSeconds: 0 },
  ],
};

for (const [rule, [legs, seconds, is, settings = window]] of Object.entries(gatherings)) {
  test(rule, () => assert.equal(isGathering(legs, settings, new Date(seconds * 1_000)), is));
}
