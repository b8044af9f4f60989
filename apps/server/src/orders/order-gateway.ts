import type { Hex } from '@florin/protocol/order.ts';
import { type Chain, contractsOf } from '#chains/chain.ts';
import type { StoredOrder } from './stored-order.ts';

/**
 * The gateway that payers and merchants let take their tokens for the order: always one that the configuration names. Where
 * a row names another, calls about its order revert, and no approval reaches a contract that is not ours.
 */
export function spenderOf(order: Pick<StoredOrder, 'gateway'>, chain: Chain): Hex {
  const gateway = gatewayOf(order, chain);
  return contractsOf(chain).gateways.includes(gateway) ? gateway : chain.gateway;
}

/** The gateway that takes and holds the order's money. Old rows name none; they belong to the chain's oldest gateway. */
export function gatewayOf(order: Pick<StoredOrder, 'gateway'>, chain: Chain): Hex {
  return order.gateway === '' ? (contractsOf(chain).gateways.at(-1) ?? chain.gateway) : order.gateway;
}
