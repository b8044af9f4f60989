import assert from 'node:assert/strict';
import { type Rpc, RpcUnavailable } from '@florin/evm';
import { payoutVaultAbi } from '@florin/protocol/contract.gen.ts';
import { decodeFunctionData, encodeFunctionResult, type Hex } from 'viem';

export interface VaultCaps {
  readonly perOrder: bigint;
  readonly hourly: bigint;
  readonly daily: bigint;
}

/** More than any payment. */
const plenty: VaultCaps = { perOrder: 10n ** 30n, hourly: 10n ** 30n, daily: 10n ** 30n };

/** A chain that answers two questions: its newest block, and the caps of its vault. Tests change its members. */
export interface VaultChain {
  readonly rpc: Rpc;
  /** By token address; unlisted tokens have plenty. */
  readonly caps: Map<Hex, VaultCaps>;
  isAway: boolean;
  /** Questions for caps. */
  asked: number;
}

export function vaultChain(): VaultChain {
  const chain: VaultChain = {
    caps: new Map(),
    isAway: false,
    asked: 0,
    rpc: {
      request: async (method, params) => {
        if (method === 'eth_call') chain.asked += 1;
        if (chain.isAway) throw new RpcUnavailable('no node answers');
        if (method === 'eth_blockNumber') return '0x64';
        const [call] = params as [{ data: Hex }];
        const { args } = decodeFunctionData({ abi: payoutVaultAbi, data: call.data });
        const result = chain.caps.get((args as readonly [Hex])[0]) ?? plenty;
        return encodeFunctionResult({ abi: payoutVaultAbi, functionName: 'capsOf', result });
      },
      batch: async () => assert.fail('caps are asked for one by one'),
    },
  };
  return chain;
}
