import { paymentGatewayAbi } from '@florin/protocol/contract.gen.ts';
import type { MicroUsd } from '@florin/protocol/money.ts';
import type { Hex } from '@florin/protocol/order.ts';
import type { Refund } from '@florin/protocol/refund.ts';
import type { Token } from '@florin/protocol/token.ts';
import { encodeFunctionData } from 'viem';
import type { Chain } from '#chains/chain.ts';
import { approvalsOf } from '#orders/approval.ts';
import { gatewayOf } from '#orders/order-gateway.ts';
import type { StoredOrder } from '#orders/stored-order.ts';

/**
 * What the merchant's wallet sends to give some of a settled payment back, in the token and on the chain that it was paid
 * in: approvals of exactly that amount, then the gateway's `refundSettled`. The same for every reader at every time:
 * a refund that waits for days has to be read without asking a chain.
 */
export function refundTransactions(
  chain: Chain,
  token: Token | undefined,
  order: StoredOrder,
  amount: MicroUsd,
): Pick<Refund, 'txRequest' | 'prerequisites'> {
  const units = amount * unitsPerMicroUsd(order);
  const data = encodeFunctionData({
    abi: paymentGatewayAbi,
    functionName: 'refundSettled',
    args: [order.order, units],
  });
  return {
    txRequest: { chainId: chain.chainId.toString(), to: gatewayOf(order, chain), data, value: '0' },
    prerequisites: approvalsOf({
      chain,
      spender: gatewayOf(order, chain),
      token: { ...tokenText(token), address: order.order.token as Hex },
      amount: units,
      // Not known: a token that has to be reset first is reset in any case.
      allowance: undefined,
    }),
  };
}

function tokenText(token: Token | undefined): Pick<Token, 'symbol' | 'decimals'> {
  // Its token has left the configuration; the transactions are the same.
  return token ?? { symbol: 'units of the token', decimals: 0 };
}

/** How many units of the order's token are one Micro-USD: exact, because tokens have 6 decimals or more. */
export function unitsPerMicroUsd(order: StoredOrder): bigint {
  return order.order.total / order.amounts.totalValue;
}
