import type { Hex } from '@florin/protocol/order.ts';
import { type Chain, contractsOf } from '#chains/chain.ts';
import type { StoredOrder } from './stored-order.ts';

/** The gateway that takes and holds the order's money. Old rows name none; they belong to the chain's oldest gateway. */
export function gatewayOf(order: Pick<StoredOrder, 'gateway'>, chain: Chain): Hex {
  return order.gateway === '' ? (contractsOf(chain).gateways.at(-1) ?? chain.gateway) : order.gateway;
}
