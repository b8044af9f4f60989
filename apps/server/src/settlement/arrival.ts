import { toTokenAmount } from '@florin/protocol/money.ts';
import { orderKinds } from '@florin/protocol/order.ts';
import type { ChainEvent } from '#contracts/event.ts';
import type { PaymentContext } from '#payments/payment.ts';
import type { LockedOrder } from '#sessions/event-order.ts';

export type FinalEvent = Pick<ChainEvent, 'chainId' | 'name' | 'txHash' | 'blockTime' | 'arguments'>;

interface Arrival extends LockedOrder {
  readonly event: FinalEvent;
}

/** Whether a payout or a mint brought an order's merchant what the order is owed. */
export function isArrival(deps: Pick<PaymentContext, 'chains'>, arrival: Arrival): boolean {
  return arrival.event.name === 'PaidOut' ? isOwed(deps, arrival) : isWholeMint(arrival);
}

/**
 * Whether a vault has paid an order's merchant what the order is owed, on the order's chain. Token and amount count while the
 * token is configured.
 */
export function isOwed(
  { chains }: Pick<PaymentContext, 'chains'>,
  { session, order, event }: Arrival,
): boolean {
  const { to, token, amount } = event.arguments;
  const { to: merchant, targetChain } = order.order;
  if (to?.toLowerCase() !== merchant.toLowerCase() || targetChain !== BigInt(event.chainId)) return false;
  const owed = chains.token(session.settlementToken);
  if (owed === undefined) return true;
  const isItsToken = token?.toLowerCase() === owed.address.toLowerCase();
  return isItsToken && amount === toTokenAmount(order.amounts.netValue, owed.decimals).toString();
}

/** Whether a mint is all of an order's money, for its merchant, on the order's chain. */
export function isWholeMint({ order: { order }, event }: Pick<Arrival, 'order' | 'event'>): boolean {
  const { amount, to, fee } = event.arguments;
  const isWhole = amount === (order.total - order.fee).toString() && fee === '0' && to === order.to;
  return order.orderType === orderKinds.cctp && order.targetChain === BigInt(event.chainId) && isWhole;
}
