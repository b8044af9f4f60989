import { erc20Abi, paymentGatewayAbi, payoutVaultAbi } from '@florin/protocol/contract.gen.ts';
import { toTokenAmount } from '@florin/protocol/money.ts';
import type { Hex, Payout } from '@florin/protocol/order.ts';
import type { Token } from '@florin/protocol/token.ts';
import { decodeFunctionResult, encodeFunctionData } from 'viem';
import { type Chain, contractsOf } from '#chains/chain.ts';
import type { StoredOrder } from '#orders/stored-order.ts';

/** The vault that pays for the order. It is always the same one: otherwise two could pay. */
export function payoutVaultOf(order: StoredOrder, chain: Chain): Hex {
  return order.payoutVault === '' ? unnamedVaultOf(chain) : order.payoutVault;
}

/** The vault that pays for orders that name none. */
export function unnamedVaultOf(chain: Chain): Hex {
  return contractsOf(chain).vaults.at(-1) ?? chain.vault;
}

/** Sorts orders with the same token and recipient together: they share one transfer in the gateway. */
export function bySharedTransfer(left: StoredOrder, right: StoredOrder): number {
  const key = (order: StoredOrder) => `${order.order.token}${order.order.to}${order.orderId}`;
  return key(left) < key(right) ? -1 : 1;
}

export function settleCall(orders: readonly StoredOrder[]): Hex {
  const args = [orders.map((stored) => stored.order)] as const;
  return encodeFunctionData({ abi: paymentGatewayAbi, functionName: 'settle', args });
}

export function refundCall(order: StoredOrder): Hex {
  return encodeFunctionData({ abi: paymentGatewayAbi, functionName: 'refund', args: [order.order] });
}

export function reclaimCall(order: StoredOrder): Hex {
  return encodeFunctionData({ abi: paymentGatewayAbi, functionName: 'reclaim', args: [order.order] });
}

/** Asks the gateway for the status of this very order. */
export function statusCall(stored: StoredOrder): Hex {
  return encodeFunctionData({ abi: paymentGatewayAbi, functionName: 'orderStatus', args: [stored.order] });
}

/** Of `statusOf` in contracts/src/interfaces/IPaymentGateway.sol. */
const settledStatus = 2n;

/** Whether an answer to `statusCall` says that the order is settled. */
export function isSettledAnswer(answer: Hex): boolean {
  return answer !== '0x' && BigInt(answer) === settledStatus;
}

/** The payout that the vault owes for a settled order: its net value in the settlement token. Deadline in Unix seconds. */
export function payoutOf(order: StoredOrder, settlementToken: Token, deadline: number): Payout {
  return {
    orderId: order.orderId,
    channelId: order.order.channelId,
    metaData: order.order.metaData,
    sourceChain: BigInt(order.chainId),
    token: settlementToken.address,
    to: order.order.to,
    amount: toTokenAmount(order.amounts.netValue, settlementToken.decimals),
    deadline: BigInt(deadline),
  };
}

export function payoutCall(payouts: readonly Payout[], signatures: readonly Hex[]): Hex {
  const args = [payouts, signatures] as const;
  return encodeFunctionData({ abi: payoutVaultAbi, functionName: 'payoutBatch', args });
}

export function availableCall(token: Hex): Hex {
  return encodeFunctionData({ abi: payoutVaultAbi, functionName: 'available', args: [token] });
}

export function balanceCall(holder: Hex): Hex {
  return encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [holder] });
}

/** Asks a vault whether it has paid this order. */
export function isPaidOutCall({ orderId }: StoredOrder): Hex {
  return encodeFunctionData({ abi: payoutVaultAbi, functionName: 'isPaidOut', args: [orderId] });
}

export function capsCall(token: Hex): Hex {
  return encodeFunctionData({ abi: payoutVaultAbi, functionName: 'capsOf', args: [token] });
}

/** The most that a vault's present caps let one order be paid, from the answer to `capsCall`. */
export function largestPayoutOf(answer: Hex): bigint {
  const caps = { abi: payoutVaultAbi, functionName: 'capsOf', data: answer } as const;
  const { perOrder, hourly, daily } = decodeFunctionResult(caps);
  let least = perOrder;
  for (const cap of [hourly, daily]) if (cap < least) least = cap;
  return least;
}
