import assert from 'node:assert/strict';
import { test } from 'node:test';
import { moveIn } from '@florin/protocol/machine.ts';
import { linkMoves, linkStatuses, linkTriggers } from './link.machine.ts';

/** Every allowed pair of status and trigger; all others must be refused. */
const expected = new Map<string, string>([
  ['active disable', 'disabled payment.link.disabled'],
  ['disabled enable', 'active payment.link.enabled'],
  ['disabled disable', 'disabled without an event'],
  ['active enable', 'active without an event'],
  ['active product_archived', 'disabled payment.link.disabled'],
  ['active account_removed', 'disabled payment.link.disabled'],
  ['active limit_reached', 'disabled payment.link.disabled'],
  ['active ended', 'disabled payment.link.disabled'],
  ['disabled delete', 'deleted without an event'],
]);

test('every pair of link status and trigger moves as written or is refused', () => {
  for (const status of linkStatuses) {
    for (const trigger of linkTriggers) {
      const move = moveIn(linkMoves, status, trigger);
      const seen = move === undefined ? undefined : `${move.to} ${move.event ?? 'without an event'}`;
      assert.equal(seen, expected.get(`${status} ${trigger}`), `${status} ${trigger}`);
    }
  }
  assert.equal(linkMoves.length, expected.size);
});
