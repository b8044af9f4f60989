import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dashboardApi } from '@florin/protocol/dashboard-api.ts';
import { needsFreshProof } from '@florin/protocol/member-role.ts';
import type { Route } from '@florin/protocol/route.ts';
import { proofWords } from './proof-words.ts';

test('every act that needs a fresh proof says which it is', () => {
  const sensitive = Object.values<Route>(dashboardApi.routes).filter(needsFreshProof);
  assert.ok(sensitive.length > 25, `${sensitive.length} routes`);
  const unnamed = sensitive.map(({ method, path }) => `${method} ${path}`).filter(isUnnamed);
  assert.deepEqual(unnamed, []);
  assert.equal(proofWords('POST /refund/create'), 'Refunding a payment');
  assert.equal(proofWords('POST /something/else'), 'This act');
});

function isUnnamed(call: string): boolean {
  return proofWords(call) === 'This act';
}
