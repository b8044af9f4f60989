import assert from 'node:assert/strict';
import { test } from 'node:test';
import { webhookMove, webhookMoves, webhookStatuses, webhookTriggers } from './webhook.machine.ts';

/** Every pair of status and trigger that is allowed. All others must be refused. */
const expected = new Map<string, string>([
  ['active enable', 'active'],
  ['inactive enable', 'active'],
  ['paused enable', 'active'],
  ['active disable', 'inactive'],
  ['inactive disable', 'inactive'],
  ['paused disable', 'inactive'],
  ['active pause', 'paused'],
  ['active remove', 'removed'],
  ['inactive remove', 'removed'],
  ['paused remove', 'removed'],
]);

// proves S3.9, S3.11
test('every pair of webhook status and trigger moves as listed or is refused', () => {
  for (const status of webhookStatuses) {
    for (const trigger of webhookTriggers) {
      const pair = `${status} ${trigger}`;
      assert.equal(webhookMove(status, trigger)?.to, expected.get(pair), pair);
    }
  }
  assert.equal(webhookMoves.length, expected.size);
});
