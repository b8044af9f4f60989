import { paymentGatewayAbi } from '@florin/protocol/contract.gen.ts';
import type { Hex } from '@florin/protocol/order.ts';
import { startAnvil } from '@florin/world/anvil.ts';
import { concat, encodeAbiParameters, keccak256, pad, toEventSelector, toHex } from 'viem';
import type { Chain } from '../server/src/chains/chain.ts';

/**
 * In the gateway's place: emits `Paid` as often as its calldata says, for orders that follow one another, so that a
 * block is full of our logs without tokens and signatures. Five words (topics, first order, count), then the data.
 */
const emitterCode = '0x60e060a060003760005b606035604035602035830160003560e06000a4600101806080351160095700';
const gateway: Hex = '0x1111111111111111111111111111111111111111';
const vault: Hex = '0x2222222222222222222222222222222222222222';
const sender: Hex = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';
/** No chain of the fixtures that stand in the same database. */
const chainId = 99_337;

export interface LogChain {
  readonly url: string;
  readonly chain: Chain;
  request(method: string, params?: readonly unknown[]): Promise<unknown>;
  /** Has `Paid` emitted for the orders with these numbers, in the next block. */
  emit(firstOrder: Hex, count: number): Promise<void>;
}

const paid = paymentGatewayAbi.find((item) => item.type === 'event' && item.name === 'Paid');
if (paid?.type !== 'event') throw new Error('the gateway has no event Paid');
export const paidEvent = paid;

function calldataOf(firstOrder: Hex, count: number): Hex {
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
    [vault, gateway, 1_000_000n, 990_000n, 10_000n, 0, keccak256('0x01')],
  );
  const topics = [toEventSelector(paidEvent), firstOrder, keccak256('0x02'), pad('0xabcd', { size: 32 })];
  return concat([...topics, toHex(count, { size: 32 }), data]);
}

/** Starts a chain whose blocks come only when asked for. */
export async function startLogChain(onEnd: (end: () => Promise<void>) => void): Promise<LogChain> {
  const anvil = await startAnvil({ name: 'ingestion', chainId, mining: 'manual' });
  onEnd(anvil.stop);
  const url = anvil.rpcUrl;
  const request = (method: string, params: readonly unknown[] = []) => anvil.rpc(method, params);
  await request('anvil_setCode', [gateway, emitterCode]);
  return {
    url,
    request,
    chain: {
      name: 'bench',
      chainId,
      rpcUrls: [url],
      wsUrls: [url.replace('http', 'ws')],
      gateway,
      vault,
      startBlock: 1n,
      finality: { tag: 'latest', depth: 1 },
      proofs: 'required',
      pollIntervalMs: 1_000,
      tokens: [],
    },
    async emit(firstOrder, count) {
      const data = calldataOf(firstOrder, count);
      await request('eth_sendTransaction', [{ from: sender, to: gateway, data, gas: '0x7a1200' }]);
    },
  };
}
