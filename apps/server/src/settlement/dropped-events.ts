import type { Transaction } from '@florin/pg';
import type { ChainEvent, ChainEventName } from '#chains/event.ts';
import type { StoredOrder } from '#orders/stored-order.ts';
import type { SessionMoveContext } from '#sessions/context.ts';
import { lockSession } from '#sessions/session.ts';
import { type LegName, reopenLeg, showDelay } from './leg.ts';

/** What each final event had closed. */
const legOf: Partial<Readonly<Record<ChainEventName, LegName>>> = {
  Settled: 'settle',
  PaidOut: 'payout',
  Minted: 'mint',
  Refunded: 'refund',
};

/**
 * A final event is gone, by a reorganisation below finality: the merchant sees the session wait, and a leg that the event
 * had closed is in line once more. It is not sent before the payment is back (`leg.sql.ts`), and does no harm if the event
 * comes back by itself: an order is settled, paid out and refunded once. What the ledger says stays; it is told again by
 * nobody, and an operator corrects it where the event stays away.
 */
export async function takeBackFinal(
  transaction: Transaction,
  deps: SessionMoveContext,
  order: StoredOrder,
  event: ChainEvent,
): Promise<void> {
  // Sessions are locked before their legs everywhere.
  await lockSession(transaction, order.sessionId);
  const leg = legOf[event.name];
  if (leg !== undefined) {
    await reopenLeg(transaction, { orderId: order.orderId, name: leg, at: deps.clock.now() });
  }
  const isPartOfSettlement = event.name === 'Paid' || (leg !== undefined && leg !== 'refund');
  if (isPartOfSettlement) await showDelay(transaction, deps, order, 'reorged');
}
