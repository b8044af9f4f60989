import assert from 'node:assert/strict';
import { test } from 'node:test';
import { everyPart, partRound } from './delivery-part.ts';

test('a worker that is alone takes all parts at once, and one that met another takes few for a while', () => {
  let now = 0;
  const round = partRound({ monotonicMs: () => now });
  assert.deepEqual(round.next(), everyPart);
  round.took(everyPart.parts);
  assert.deepEqual([round.isOver(), round.isBusyLeft()], [true, false]);
  // Another worker is busy with two parts.
  round.next();
  round.took([0, 1, 2, 3, 4, 5]);
  assert.equal(round.isOver(), false);
  assert.deepEqual(round.next(), { parts: [6, 7], mostParts: 2 });
  round.took([]);
  assert.deepEqual([round.isOver(), round.isBusyLeft()], [true, true]);
  // What was busy comes first, and every part is visited.
  const visited: number[] = [];
  do {
    const { parts, mostParts } = round.next();
    assert.equal(mostParts, 2);
    visited.push(...parts.slice(0, mostParts));
    round.took(parts.slice(0, mostParts));
  } while (!round.isOver());
  assert.deepEqual(visited, [6, 7, 0, 1, 2, 3, 4, 5]);
  now = 5_000;
  assert.equal(round.next().mostParts, 8);
});
