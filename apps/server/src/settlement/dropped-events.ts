import type { Transaction } from '@florin/pg';
import type { ChainEvent, ChainEventName } from '#contracts/event.ts';
import type { StoredOrder } from '#orders/stored-order.ts';
import type { SessionMoveContext } from '#sessions/context.ts';
import { lockSession } from '#sessions/session.ts';
import { moveSession } from '#sessions/session-move.ts';
import { type LegName, reopenLeg, requestLeg, showDelay } from './leg.ts';

/** The leg that each final event closes. */
const legOf: Partial<Readonly<Record<ChainEventName, LegName>>> = {
  Settled: 'settle',
  PaidOut: 'payout',
  Minted: 'mint',
  Refunded: 'refund',
  Reclaimed: 'refund',
};

/** The events in the order in which they are reacted to. Where the payment is gone, nothing is told of its settlement alone. */
export function paymentsFirst(dropped: readonly ChainEvent[]): ChainEvent[] {
  const isPayment = ({ name }: ChainEvent) => name === 'Paid';
  return [...dropped.filter(isPayment), ...dropped.filter((event) => !isPayment(event))];
}

/**
 * Reacts to a final event that a reorganisation below finality has removed. The merchant sees that the session waits, and
 * whether for its payment or for its settlement. A leg that the event had closed is queued again, and is not sent before the
 * payment is back (`leg.sql.ts`). Sending it is harmless if the event returns, because an order is settled, paid out and
 * refunded once. The ledger keeps its entry and does not repeat it. If the order ends otherwise instead, `book` reverses the
 * entry. If it never ends, an operator corrects it.
 */
export async function reopenDropped(
  transaction: Transaction,
  deps: SessionMoveContext,
  order: StoredOrder,
  event: ChainEvent,
): Promise<void> {
  // Every transaction locks sessions before their legs.
  const session = await lockSession(transaction, order.sessionId);
  const leg = legOf[event.name];
  const at = deps.clock.now();
  // The payer had taken back what was not settled in time, and cannot know that it is in the gateway again.
  if (event.name === 'Reclaimed')
    await requestLeg(transaction, order, { name: 'refund', chainId: order.chainId, at });
  if (leg !== undefined) await reopenLeg(transaction, { orderId: order.orderId, name: leg, at });
  if (event.name === 'Paid' && session?.orderId === order.orderId) {
    const changes = {
      pendingReason: 'payment_reorged',
      completeTx: '',
      settlementSucceededAt: undefined,
    } as const;
    await moveSession(transaction, deps, session, 'payment_lost', changes, order);
  }
  if (leg !== undefined && leg !== 'refund') await showDelay(transaction, deps, order, 'reorged');
}
