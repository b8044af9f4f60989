import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readAhead } from './read-ahead.ts';

test('items are returned in their order, and the number in flight is limited', async () => {
  const plan = fc.array(fc.nat({ max: 5 }), { maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(plan, fc.integer({ min: 1, max: 4 }), async (turns, atOnce) => {
      let underWay = 0;
      let most = 0;
      const taken: number[] = [];
      const load = async (index: number) => {
        underWay += 1;
        most = Math.max(most, underWay);
        for (let turn = 0; turn < (turns[index] ?? 0); turn += 1) await Promise.resolve();
        underWay -= 1;
        return index;
      };
      const items = turns.map((_, index) => index);
      await readAhead(items, atOnce, load, async (index) => void taken.push(index));
      assert.deepEqual(taken, items);
      assert.ok(most <= atOnce);
    }),
  );
});

test('the first failure is thrown after all earlier items, and later failures are not unhandled rejections', async () => {
  const taken: number[] = [];
  const load = async (item: number) => {
    if (item >= 2) throw new Error(`item ${item}`);
    return item;
  };
  const reading = readAhead([0, 1, 2, 3, 4], 4, load, async (item) => void taken.push(item));
  await assert.rejects(reading, new Error('item 2'));
  assert.deepEqual(taken, [0, 1]);
});
