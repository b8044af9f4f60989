import { type Rpc, readContract } from '@florin/evm';
import type { Token } from '@florin/protocol/token.ts';

/** Most issuers' tokens have it, such as those of Circle, Tether and Paxos. */
const pausedAbi = [
  { type: 'function', name: 'paused', stateMutability: 'view', inputs: [], outputs: [{ type: 'bool' }] },
] as const;

/**
 * The ids of those tokens of one chain whose issuer has paused all transfers. A token without `paused()`, or whose answer
 * is no bool, counts as not paused. Throws `RpcUnavailable`, or `RpcError` for an error other than a revert.
 */
export async function readPausedTokens(rpc: Rpc, tokens: readonly Token[]): Promise<ReadonlySet<string>> {
  const answers = await Promise.all(
    tokens.map(async ({ tokenId, address }) => ({
      tokenId,
      isPaused: await readContract(rpc, address, { abi: pausedAbi, functionName: 'paused' }),
    })),
  );
  return new Set(answers.flatMap(({ tokenId, isPaused }) => (isPaused === true ? [tokenId] : [])));
}
