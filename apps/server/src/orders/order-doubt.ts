import { toTokenAmount } from '@florin/protocol/money.ts';
import { type Hex, orderKinds } from '@florin/protocol/order.ts';
import { zeroAddress } from 'viem';
import { type Chain, cctpRoutesOf, contractsOf, isAmong } from '#chains/chain.ts';
import { gatewayOf } from './order-gateway.ts';
import { orderIdOf } from './order-signer.ts';
import type { StoredOrder } from './stored-order.ts';

/** What of a stored order does not fit the configuration or the order's id. */
export type Doubt = 'gateway' | 'via' | 'id' | 'token' | 'amount';

/**
 * What forbids to sign or send a stored order: its gateway, or the contract through which its money leaves, is not one that
 * the configuration names, now or before; or the terms do not give its id. Undefined when all is well. So whoever writes
 * to the database gets no signature and no transaction with terms or contracts of their own in an order of others.
 */
export function doubtOf(stored: DoubtfulOrder, chain: Chain): Doubt | undefined {
  const { order, orderId } = stored;
  const gateway = gatewayOf(stored, chain);
  if (!isAmong(contractsOf(chain).gateways, gateway)) return 'gateway';
  if (!isAmong(exitsOf(chain, order.orderType), order.via)) return 'via';
  try {
    return orderIdOf(chain.chainId, gateway, order) === orderId ? undefined : 'id';
  } catch (error) {
    // No order can have such terms: they do not even fit their types.
    if (error instanceof RangeError) return 'id';
    throw error;
  }
}

type DoubtfulOrder = Pick<StoredOrder, 'order' | 'orderId' | 'gateway'>;

/** As {@link doubtOf}, and the order's values in Micro-USD must be those of its amounts in a configured token. */
export function valueDoubtOf(
  stored: DoubtfulOrder & Pick<StoredOrder, 'amounts'>,
  chain: Chain,
): Doubt | undefined {
  const doubt = doubtOf(stored, chain);
  if (doubt !== undefined) return doubt;
  const { total, fee, token: address } = stored.order;
  const token = chain.tokens.find((known) => isAmong([known.address], address));
  if (token === undefined) return 'token';
  const { totalValue, netValue } = stored.amounts;
  const isTotal = toTokenAmount(totalValue, token.decimals) === total;
  return isTotal && toTokenAmount(netValue, token.decimals) === total - fee ? undefined : 'amount';
}

/** All that `via` can be in orders of a type; empty for an unknown type. */
function exitsOf(chain: Chain, orderType: number): readonly Hex[] {
  if (orderType === orderKinds.escrow || orderType === orderKinds.direct) return [zeroAddress];
  if (orderType === orderKinds.vaultPayout) return contractsOf(chain).vaults;
  return orderType === orderKinds.cctp ? cctpRoutesOf(chain) : [];
}
