import { erc20Abi, paymentGatewayAbi, payoutVaultAbi } from '@florin/protocol/contract.gen.ts';
import { toTokenAmount } from '@florin/protocol/money.ts';
import type { Hex, Payout } from '@florin/protocol/order.ts';
import type { Token } from '@florin/protocol/token.ts';
import { decodeFunctionResult, encodeFunctionData } from 'viem';
import { type Chain, contractsOf } from '#chains/chain.ts';
import type { StoredOrder } from '#orders/stored-order.ts';

/** The vault that pays for the order, on the chain of its payout: always the same, or two could pay. */
export function payoutVaultOf(order: StoredOrder, chain: Chain): Hex {
  return order.payoutVault === '' ? unnamedVaultOf(chain) : order.payoutVault;
}

/** The vault that pays for orders that name none. */
export function unnamedVaultOf(chain: Chain): Hex {
  return contractsOf(chain).vaults.at(-1) ?? chain.vault;
}

/** Neighbours with the same token and recipient share one transfer in the gateway. */
export function bySharedTransfer(left: StoredOrder, right: StoredOrder): number {
  const key = (order: StoredOrder) => `${order.order.token}${order.order.to}${order.orderId}`;
  return key(left) < key(right) ? -1 : 1;
}

export function settleCall(orders: readonly StoredOrder[]): Hex {
  return encodeFunctionData({
    abi: paymentGatewayAbi,
    functionName: 'settle',
    args: [orders.map((stored) => stored.order)],
  });
}

export function refundCall(order: StoredOrder): Hex {
  return encodeFunctionData({ abi: paymentGatewayAbi, functionName: 'refund', args: [order.order] });
}

/** What the vault of the settlement token's chain owes for a settled order: netValue in the settlement token. */
export function payoutOf(order: StoredOrder, settlementToken: Token): Payout {
  return {
    orderId: order.orderId,
    channelId: order.order.channelId,
    metaData: order.order.metaData,
    sourceChain: BigInt(order.chainId),
    token: settlementToken.address,
    to: order.order.to,
    amount: toTokenAmount(order.amounts.netValue, settlementToken.decimals),
  };
}

export function payoutCall(payouts: readonly Payout[], signatures: readonly Hex[]): Hex {
  return encodeFunctionData({
    abi: payoutVaultAbi,
    functionName: 'payoutBatch',
    args: [payouts, signatures],
  });
}

export function availableCall(token: Hex): Hex {
  return encodeFunctionData({ abi: payoutVaultAbi, functionName: 'available', args: [token] });
}

/** What a holder has of a token. */
export function balanceCall(holder: Hex): Hex {
  return encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [holder] });
}

export function capsCall(token: Hex): Hex {
  return encodeFunctionData({ abi: payoutVaultAbi, functionName: 'capsOf', args: [token] });
}

/** Most that one order can ever be paid under a vault's caps as they are, from the answer to `capsCall`. */
export function largestPayoutOf(answer: Hex): bigint {
  const { perOrder, hourly, daily } = decodeFunctionResult({
    abi: payoutVaultAbi,
    functionName: 'capsOf',
    data: answer,
  });
  let least = perOrder;
  for (const cap of [hourly, daily]) if (cap < least) least = cap;
  return least;
}
