import { paymentGatewayAbi } from '@florin/protocol/contract.gen.ts';
import type { MicroUsd } from '@florin/protocol/money.ts';
import type { Hex } from '@florin/protocol/order.ts';
import type { Refund } from '@florin/protocol/refund.ts';
import type { Token } from '@florin/protocol/token.ts';
import { encodeFunctionData } from 'viem';
import type { Chain } from '#chains/chain.ts';
import { approvalsOf } from '#orders/approval.ts';
import { spenderOf } from '#orders/order-gateway.ts';
import type { StoredOrder } from '#orders/stored-order.ts';

/**
 * The transactions with which the merchant's wallet returns part of a settled payment, in the token and on the chain of
 * the payment: approvals of exactly that amount, then the gateway's `refundSettled`. They never change, so that a refund
 * which waits for days can be read without asking a chain. None for an order whose gateway the configuration does not name.
 */
export function refundTransactions(
  chain: Chain,
  token: Token | undefined,
  order: StoredOrder,
  amount: MicroUsd,
): Pick<Refund, 'requiredBalance' | 'txRequest' | 'prerequisites'> {
  const gateway = spenderOf(order, chain);
  if (gateway === undefined) return {};
  const units = amount * unitsPerMicroUsd(order);
  const data = encodeFunctionData({
    abi: paymentGatewayAbi,
    functionName: 'refundSettled',
    args: [order.order, units],
  });
  return {
    requiredBalance: {
      tokenId: order.tokenId,
      chainId: chain.chainId.toString(),
      tokenAddress: order.order.token,
      amountInToken: units.toString(),
    },
    txRequest: { chainId: chain.chainId.toString(), to: gateway, data, value: '0' },
    prerequisites: approvalsOf({
      chain,
      spender: gateway,
      token: { ...tokenText(token), address: order.order.token as Hex },
      amount: units,
      // Unknown, so a token that needs a reset first is always reset.
      allowance: undefined,
    }),
  };
}

function tokenText(token: Token | undefined): Pick<Token, 'symbol' | 'decimals'> {
  // The token is no longer configured; the transactions are the same.
  return token ?? { symbol: 'units of the token', decimals: 0 };
}

/** The units of the order's token in one Micro-USD. Exact, because tokens have at least 6 decimals. */
export function unitsPerMicroUsd(order: StoredOrder): bigint {
  return order.order.total / order.amounts.totalValue;
}
