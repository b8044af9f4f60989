import type { Anvil } from '@florin/evm/testing';
import { paymentGatewayAbi } from '@florin/protocol/contract.gen.ts';
import type { Hex } from '@florin/protocol/order.ts';
import { concat, encodeAbiParameters, keccak256, pad, toEventSelector, toHex } from 'viem';
import type { Chain } from '#chains/chain.ts';

/**
 * Code that emits what its calldata says: four topics, then data (LOG4). Put in the gateway's place it gives any event
 * with three indexed arguments, without tokens, orders and signatures.
 */
const emitterCode = '0x608036036080600037606035604035602035600035608036036000a400';

export const gateway = '0x1111111111111111111111111111111111111111';
export const vault = '0x2222222222222222222222222222222222222222';

/** Puts the emitter in the gateway's place. */
export async function installEmitter(anvil: Anvil): Promise<void> {
  await anvil.request('anvil_setCode', [gateway, emitterCode]);
}

/** A chain of one test: `finalized` of the node, no further depth. */
export function testChain(anvil: Anvil, changes: Partial<Chain> = {}): Chain {
  return {
    name: 'test',
    chainId: anvil.chainId,
    rpcUrls: [anvil.url],
    gateway,
    vault,
    startBlock: 1n,
    finality: { tag: 'finalized', depth: 0 },
    proofs: 'required',
    pollIntervalMs: 20,
    tokens: [],
    ...changes,
  };
}

export function orderIdOf(number: number): Hex {
  return keccak256(toHex(`order ${number}`));
}

const found = paymentGatewayAbi.find((item) => item.type === 'event' && item.name === 'Paid');
if (found?.type !== 'event') throw new Error('the gateway has no event Paid');
export const paidEvent = found;

/** What `Paid` of an order is made of, with fixed amounts: the four topics, then the data. */
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

/** Calldata that makes the emitter emit `Paid` of this order. */
export function paidCall(orderId: Hex): Hex {
  const { topics, data } = paidLog(orderId);
  return concat([...topics, data]);
}

/** Sends calls from anvil's first account, all into the next block, and gives the hashes. */
export async function sendCalls(anvil: Anvil, calls: readonly Hex[]): Promise<Hex[]> {
  const hashes: Hex[] = [];
  for (const data of calls) {
    const request = { from: anvil.accounts[0]?.address, to: gateway, data, gas: '0x30d40' };
    hashes.push((await anvil.request('eth_sendTransaction', [request])) as Hex);
  }
  return hashes;
}
