import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSought } from './delivery-filter.ts';

const sent = [
  { id: 'fresh', eventType: 'session.paid', status: 'pending', attempts: [] },
  { id: 'retried', eventType: 'session.paid', status: 'pending', attempts: [{ error: 'status 500' }] },
  { id: 'given up', eventType: 'refund.created', status: 'failed', attempts: [{ error: 'timeout' }] },
  {
    id: 'arrived',
    eventType: 'session.paid',
    status: 'succeeded',
    attempts: [{ error: 'timeout' }, { error: '' }],
  },
  { id: 'left out', eventType: 'session.paid', status: 'skipped', attempts: [] },
] as const;
const idsOf = (filter: { state: string; type: string }) =>
  sent.filter((each) => isSought(each, filter)).map(({ id }) => id);

test('a delivery that is retried is among the failing ones, and no longer among those that wait', () => {
  assert.deepEqual(idsOf({ state: 'failing', type: '' }), ['retried', 'given up']);
  assert.deepEqual(idsOf({ state: 'waiting', type: '' }), ['fresh']);
  assert.deepEqual(idsOf({ state: 'succeeded', type: '' }), ['arrived']);
  assert.deepEqual(idsOf({ state: 'skipped', type: '' }), ['left out']);
});

test('state and type of deliveries narrow together, and neither leaves all', () => {
  assert.deepEqual(idsOf({ state: 'failing', type: 'refund.created' }), ['given up']);
  assert.equal(idsOf({ state: '', type: '' }).length, sent.length);
});
