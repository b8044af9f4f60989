import type { Hex } from '@florin/protocol/order.ts';
import { type Chain, contractsOf, isAmong } from '#chains/chain.ts';
import type { StoredOrder } from './stored-order.ts';

/**
 * The gateway that payers and merchants let take their tokens for the order; undefined where its row names one that the
 * configuration does not, now or before. The present gateway does not know such an order, and no approval reaches a contract
 * that is not ours.
 */
export function spenderOf(order: Pick<StoredOrder, 'gateway'>, chain: Chain): Hex | undefined {
  const gateway = gatewayOf(order, chain);
  return isAmong(contractsOf(chain).gateways, gateway) ? gateway : undefined;
}

/** The gateway that takes and holds the order's money. Old rows name none; they belong to the chain's oldest gateway. */
export function gatewayOf(order: Pick<StoredOrder, 'gateway'>, chain: Chain): Hex {
  return order.gateway === '' ? (contractsOf(chain).gateways.at(-1) ?? chain.gateway) : order.gateway;
}
