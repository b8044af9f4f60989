import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  depositMoveStatuses,
  depositMoveTransition,
  depositMoveTransitions,
  depositMoveTriggers,
} from './deposit-move.machine.ts';

/** What each pair leads to: for collections and returns, and for additions; pairs that are not here are refused. */
const expected = new Map<string, readonly [others: string | undefined, additions: string | undefined]>([
  ['sent transaction_succeeded', ['succeeded', 'succeeded']],
  ['sent transaction_failed', ['failed', 'failed']],
  ['failed repeated', ['sent', 'sent']],
  ['succeeded repeated', ['sent', undefined]],
  ['sent wallet_dropped', ['failed', 'unfollowed']],
  ['unfollowed transaction_succeeded', [undefined, 'succeeded']],
  ['unfollowed transaction_failed', [undefined, 'failed']],
  ['succeeded outcome_taken_back', ['sent', undefined]],
]);

test('every pair of status of a deposit move and trigger leads where it is written or is refused', () => {
  for (const status of depositMoveStatuses) {
    for (const trigger of depositMoveTriggers) {
      const seen = [false, true].map(
        (isAddition) => depositMoveTransition({ status, isAddition }, trigger)?.to,
      );
      const pair = `${status} ${trigger}`;
      assert.deepEqual(seen, expected.get(pair) ?? [undefined, undefined], pair);
    }
  }
  assert.equal(depositMoveTransitions.length, 9);
});

test('money of the operator is added once: an addition is repeated only after it has failed', () => {
  const repeatable = depositMoveStatuses.filter(
    (status) => depositMoveTransition({ status, isAddition: true }, 'repeated') !== undefined,
  );
  assert.deepEqual(repeatable, ['failed']);
});
