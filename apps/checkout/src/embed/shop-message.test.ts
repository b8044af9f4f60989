import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newsOf } from './shop-message.ts';

test('a shop hears of a payment once a block has it, of a final one, and of an end without one', () => {
  const initiateTx = '0x1';
  assert.equal(newsOf({ status: 'initialized', initiateTx: '' }), undefined);
  assert.equal(newsOf({ status: 'initialized', initiateTx }), 'detected');
  for (const status of ['paid', 'settling', 'completed', 'settlement_pending'] as const)
    assert.equal(newsOf({ status, initiateTx }), 'paid');
  for (const status of ['expired', 'cancelled'] as const)
    assert.equal(newsOf({ status, initiateTx: '' }), 'expired');
});
