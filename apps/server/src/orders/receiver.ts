import { paymentGatewayAbi } from '@florin/protocol/contract.gen.ts';
import type { Hex } from '@florin/protocol/order.ts';
import { concat, encodeFunctionData, getContractAddress } from 'viem';
import { receiverImplementationOf } from '#chains/chain.ts';
import type { StoredOrder } from './stored-order.ts';

/**
 * The deposit address of an order: an ERC-1167 proxy that its gateway deploys by CREATE2 with the order's id as salt
 * (contracts/src/base/Deposits.sol). Payers need the address before the deployment, so it is computed here.
 */
export function receiverOf(gateway: Hex, orderId: Hex): Hex {
  const bytecode = concat([
    '0x3d602d80600a3d3981f3363d3d373d3d3d363d73',
    receiverImplementationOf(gateway),
    '0x5af43d82803e903d91602b57fd5bf3',
  ]);
  return getContractAddress({ from: gateway, opcode: 'CREATE2', salt: orderId, bytecode });
}

/**
 * The gateway's call that sends a token from an order's address to its payer. Anyone can make it; for the order's own
 * token only after the order's end. The zero address means the chain's coin.
 */
export function rescueCall({ order }: Pick<StoredOrder, 'order'>, token: Hex): Hex {
  return encodeFunctionData({ abi: paymentGatewayAbi, functionName: 'rescue', args: [order, token] });
}
