import { paymentGatewayAbi } from '@florin/protocol/contract.gen.ts';
import type { Hex } from '@florin/protocol/order.ts';
import { encodeAbiParameters, keccak256, pad, toEventSelector } from 'viem';

export const gateway = '0x1111111111111111111111111111111111111111';
export const vault = '0x2222222222222222222222222222222222222222';

const found = paymentGatewayAbi.find((item) => item.type === 'event' && item.name === 'Paid');
if (found?.type !== 'event') throw new Error('the gateway has no event Paid');
export const paidEvent = found;

/** The parts of an order's `Paid` event with fixed amounts: the four topics, then the data. */
export function paidLog(orderId: Hex): { readonly topics: readonly Hex[]; readonly data: Hex } {
  const data = encodeAbiParameters(
    [
      { type: 'address' },
      { type: 'address' },
      { type: 'uint256' },
      { type: 'uint256' },
      { type: 'uint256' },
      { type: 'uint8' },
      { type: 'bytes32' },
    ],
    [vault, gateway, 1_000_000n, 990_000n, 10_000n, 0, keccak256(orderId)],
  );
  const topics = [toEventSelector(paidEvent), orderId, keccak256('0x01'), pad('0xabcd', { size: 32 })];
  return { topics, data };
}
