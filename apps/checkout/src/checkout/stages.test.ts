import assert from 'node:assert/strict';
import { test } from 'node:test';
import { en } from '../text/en.ts';
import { stages, stagesView } from './stages.ts';
import { flatten, type Tree } from './tree.ts';

const textOf = (tree: Tree): string =>
  flatten(tree)
    .map((item) => (typeof item === 'string' ? item : textOf(item.children)))
    .join('');

/** The numbers and signs of the stages, and the names that are struck out. */
function shownAt(stage: number, hasAllowed?: boolean): [signs: string, struckOut: string] {
  const inside = (tree: Tree) =>
    flatten(tree).flatMap((item) => (typeof item === 'string' ? [] : [flatten(item.children)]));
  const stagesShown = inside(inside(stagesView(en, { stage, hasAllowed })));
  const struckOut = stagesShown.flat().filter((part) => typeof part !== 'string' && part.tag === 's');
  return [stagesShown.map(([sign]) => textOf(sign)).join(' '), textOf(struckOut)];
}

test('the steps of a payment keep their numbers, and an allowance that was not needed is struck out', () => {
  assert.deepEqual(shownAt(stages.connect), ['1 2 3 4 5', '']);
  // Before it is known whether an allowance is needed, it is neither done nor struck out.
  assert.deepEqual(shownAt(stages.pay), ['✓ 2 3 4 5', '']);
  assert.deepEqual(shownAt(stages.allow), ['✓ 2 3 4 5', '']);
  assert.deepEqual(shownAt(stages.pay, true), ['✓ ✓ 3 4 5', '']);
  assert.deepEqual(shownAt(stages.pay, false), ['✓ – 3 4 5', 'Allow']);
  assert.deepEqual(shownAt(stages.confirm, false), ['✓ – ✓ 4 5', 'Allow']);
  assert.deepEqual(shownAt(stages.done, true), ['✓ ✓ ✓ ✓ ✓', '']);
});
