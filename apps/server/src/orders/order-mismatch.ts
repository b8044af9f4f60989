import { toTokenAmount } from '@florin/protocol/money.ts';
import { type Hex, orderKinds } from '@florin/protocol/order.ts';
import { zeroAddress } from 'viem';
import { type Chain, cctpRoutesOf, contractsOf, isAmong } from '#chains/chain.ts';
import { gatewayOf } from './order-gateway.ts';
import { orderIdOf } from './order-signer.ts';
import type { StoredOrder } from './stored-order.ts';

/** What of a stored order does not fit the configuration or the order's id. */
export type Mismatch = 'gateway' | 'via' | 'id' | 'token' | 'amount';

/**
 * What forbids to sign or send a stored order: its gateway, or the contract through which its money leaves, is not one that
 * the configuration names, now or before; or the terms do not give its id. Undefined when all is well. So a writer to
 * the database gets no signature and no transaction with other terms or contracts in an order of others.
 */
export function mismatchOf(stored: CheckedOrder, chain: Chain): Mismatch | undefined {
  const { order, orderId } = stored;
  const gateway = gatewayOf(stored, chain);
  if (!isAmong(contractsOf(chain).gateways, gateway)) return 'gateway';
  if (!isAmong(destinationsOf(chain, order.orderType), order.via)) return 'via';
  try {
    return orderIdOf(chain.chainId, gateway, order) === orderId ? undefined : 'id';
  } catch (error) {
    // No order can have such terms: they do not even fit their types.
    if (error instanceof RangeError) return 'id';
    throw error;
  }
}

type CheckedOrder = Pick<StoredOrder, 'order' | 'orderId' | 'gateway'>;

/** As {@link mismatchOf}, and the order's values in Micro-USD must be those of its amounts in a configured token. */
export function valueMismatchOf(
  stored: CheckedOrder & Pick<StoredOrder, 'amounts'>,
  chain: Chain,
): Mismatch | undefined {
  const mismatch = mismatchOf(stored, chain);
  if (mismatch !== undefined) return mismatch;
  const { total, fee, token: address } = stored.order;
  const token = chain.tokens.find((known) => isAmong([known.address], address));
  if (token === undefined) return 'token';
  const { totalValue, netValue } = stored.amounts;
  const isTotal = toTokenAmount(totalValue, token.decimals) === total;
  return isTotal && toTokenAmount(netValue, token.decimals) === total - fee ? undefined : 'amount';
}

/** All that `via` can be in orders of a type; empty for an unknown type. */
function destinationsOf(chain: Chain, orderType: number): readonly Hex[] {
  if (orderType === orderKinds.escrow || orderType === orderKinds.direct) return [zeroAddress];
  if (orderType === orderKinds.vaultPayout) return contractsOf(chain).vaults;
  return orderType === orderKinds.cctp ? cctpRoutesOf(chain) : [];
}
