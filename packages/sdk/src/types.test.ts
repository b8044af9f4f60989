import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type ErrorSlug,
  type Florin,
  type FlorinError,
  type FlorinEvent,
  microUsd,
  type Refund,
  type Session,
  usd,
} from './florin.ts';
import { type EventOf, fixture } from './testing.ts';
import type { EventType } from './wire.gen.ts';

/** The compiler checks this file: each expected error has to be one. */

function orderOf(event: FlorinEvent): unknown {
  switch (event.type) {
    case 'session.paid':
      return [event.data.session.metadata['order'], event.data.transaction.orderId];
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

/** Never run: what follows is for the compiler. */
export async function onlyCompiled(florin: Florin, session: Session, refund: Refund): Promise<void> {
  const { checkout, links, products, refunds, webhooks } = florin;
  const settlementToken = 'base::usdc';
  await checkout.sessions.create({ settlementToken, lineItems: [{ name: 'Tea', price: usd('4.50') }] });
  // @ts-expect-error it may be cents
  await checkout.sessions.create({ settlementToken, lineItems: [{ name: 'Tea', price: 450 }] });
  // @ts-expect-error it may be dollars
  await checkout.sessions.create({ settlementToken, lineItems: [{ productId: 'prd_1', price: 4.5 }] });
  // @ts-expect-error a product has no price but commonPrices
  await products.create({ name: 'Tea', price: usd('4.50') });
  // @ts-expect-error it may be cents
  await products.create({ name: 'Tea', commonPrices: [450] });
  // What the service answers is an amount, and half of one is a number.
  await refunds.create({ sessionId: session.sessionId, amount: session.amount });
  // @ts-expect-error a number, which may be no whole one
  await refunds.create({ sessionId: session.sessionId, amount: session.amount / 2 });
  await refunds.create({ sessionId: session.sessionId, amount: microUsd(session.amount / 2) });

  await webhooks.update('wkid_1', { subscribedEvents: ['session.*', 'refund.completed'] });
  // @ts-expect-error there is no such type
  await webhooks.update('wkid_1', { subscribedEvents: ['session.payed'] });
  await links.update('lnk_1', { feeModel: 2, payerEmailRequired: 1, maxPayments: null });
  // @ts-expect-error the merchant or the payer
  await links.update('lnk_1', { feeModel: 3 });
  // @ts-expect-error 0 or 1
  await links.update('lnk_1', { payerEmailRequired: 2 });

  // What a wallet needs is there together.
  if (refund.txRequest !== undefined)
    console.log(refund.requiredBalance.chainId, refund.prerequisites.length);
  // @ts-expect-error it may be absent
  console.log(refund.requiredBalance.chainId);
}

test('events narrow by type, and errors by slug', () => {
  assert.deepEqual(orderOf(fixture('session.paid', { metadata: { order: 'A-1' } })), [
    'A-1',
    paid.data.transaction.orderId,
  ]);
  assert.equal(isGone({ slug: 'timed_out' } as FlorinError), true);
});
