import assert from 'node:assert/strict';
import { test } from 'node:test';
import { moveIn } from '@florin/protocol/machine.ts';
import { productMoves, productStatuses, productTriggers } from './product.machine.ts';

/** Every allowed pair of status and trigger; all others must be refused. */
const expected = new Map<string, string>([
  ['active archive', 'archived product.archived'],
  ['archived unarchive', 'active product.unarchived'],
  ['archived archive', 'archived without an event'],
  ['active unarchive', 'active without an event'],
  ['active remove', 'removed product.removed'],
  ['archived remove', 'removed product.removed'],
]);

test('every pair of product status and trigger moves as written or is refused', () => {
  for (const status of productStatuses) {
    for (const trigger of productTriggers) {
      const move = moveIn(productMoves, status, trigger);
      const seen = move === undefined ? undefined : `${move.to} ${move.event ?? 'without an event'}`;
      assert.equal(seen, expected.get(`${status} ${trigger}`), `${status} ${trigger}`);
    }
  }
  assert.equal(productMoves.length, expected.size);
});
