import type { Hex } from '@florin/protocol/order.ts';
import type { Chain } from '@florin/server/operator';
import { gateway, paidLog, vault } from '@florin/server/testing';
import { startAnvil } from '@florin/world';
import { concat, toHex } from 'viem';

/**
 * Takes the gateway's place: emits `Paid` as many times as the calldata says, for consecutive orders. So a block is
 * full of our logs without tokens and signatures. The calldata has five words (topics, first order, count), then the
 * data.
 */
const emitterCode = '0x60e060a060003760005b606035604035602035830160003560e06000a4600101806080351160095700';
const sender: Hex = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';
/** Differs from the chains of the fixtures in the same database. */
const chainId = 99_337;

export interface LogChain {
  readonly url: string;
  readonly chain: Chain;
  request(method: string, params?: readonly unknown[]): Promise<unknown>;
  /** Emits `Paid` for the orders with these numbers in the next block. */
  emit(firstOrder: Hex, count: number): Promise<void>;
}

function calldataOf(firstOrder: Hex, count: number): Hex {
  const { topics, data } = paidLog(firstOrder);
  return concat([...topics, toHex(count, { size: 32 }), data]);
}

/** Starts a chain that mines only on request. */
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
      finality: { tag: 'latest', depth: 1, quorum: 1 },
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
