import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ErrorSlug, type FlorinError, type FlorinEvent, usd } from './florin.ts';
import { type EventOf, fixture } from './testing.ts';
import type { EventType } from './wire.gen.ts';

/** The compiler checks this file: each expected error has to be one. */

function orderOf(event: FlorinEvent): unknown {
  switch (event.type) {
    case 'session.paid':
      return [event.data.session.metadata['order'], event.data.transaction?.orderId];
    case 'refund.completed':
      return event.data.refund.txHash;
    // @ts-expect-error there is no such type
    case 'session.payed':
      return undefined;
    case 'unknown':
      return event.unknownType;
    default:
      // @ts-expect-error only the types left over can be here
      return event.type === 'session.paid';
  }
}

function isGone(error: FlorinError): boolean {
  // @ts-expect-error there is no such slug
  if (error.slug === 'sesion_not_found') return true;
  return error.slug === 'session_not_found' || error.slug === 'timed_out';
}

/** The types of a fixture are those of its event. */
const paid: EventOf<'session.paid'> = fixture('session.paid', { amount: usd('1') });
// @ts-expect-error a refund has no amount in text
fixture('refund.completed', { amount: '1' });
// @ts-expect-error the unknown type has no fixture
const _unknown: EventType = 'unknown';
// @ts-expect-error an error of the SDK itself is none of the service
const _own: ErrorSlug = 'timed_out';

test('events narrow by type, and errors by slug', () => {
  assert.deepEqual(orderOf(fixture('session.paid', { metadata: { order: 'A-1' } })), [
    'A-1',
    paid.data.transaction?.orderId,
  ]);
  assert.equal(isGone({ slug: 'timed_out' } as FlorinError), true);
});
