import assert from 'node:assert/strict';
import { type Rpc, RpcUnavailable } from '@florin/evm';
import { payoutVaultAbi } from '@florin/protocol/contract.gen.ts';
import { decodeFunctionData, encodeFunctionResult, type Hex } from 'viem';

export interface VaultCaps {
  readonly perOrder: bigint;
  readonly hourly: bigint;
  readonly daily: bigint;
}

/** Of `paused()`. */
const pausedSelector = '0x5c975abb';

/** More than any payment. */
const plenty: VaultCaps = { perOrder: 10n ** 30n, hourly: 10n ** 30n, daily: 10n ** 30n };

/** A chain that answers three questions: its newest block, the caps of its vault, and what its tokens say of a pause. Tests change its members. */
export interface VaultChain {
  readonly rpc: Rpc;
  /** By token address; unlisted tokens have plenty. */
  readonly caps: Map<Hex, VaultCaps>;
  /** What `paused()` returns, by token address; unlisted tokens lack it. */
  readonly pauses: Map<Hex, Hex>;
  isAway: boolean;
  /** Questions for caps. */
  asked: number;
}

export function vaultChain(): VaultChain {
  const chain: VaultChain = {
    caps: new Map(),
    pauses: new Map(),
    isAway: false,
    asked: 0,
    rpc: {
      request: async (method, params) => {
        const [call] = params as [{ to: Hex; data: Hex }];
        const asksForPause = method === 'eth_call' && call.data === pausedSelector;
        if (method === 'eth_call' && !asksForPause) chain.asked += 1;
        if (chain.isAway) throw new RpcUnavailable('no node answers');
        if (method === 'eth_blockNumber') return '0x64';
        if (asksForPause) return chain.pauses.get(call.to) ?? '0x';
        const { args } = decodeFunctionData({ abi: payoutVaultAbi, data: call.data });
        const result = chain.caps.get((args as readonly [Hex])[0]) ?? plenty;
        return encodeFunctionResult({ abi: payoutVaultAbi, functionName: 'capsOf', result });
      },
      batch: async () => assert.fail('caps are asked for one by one'),
    },
  };
  return chain;
}
