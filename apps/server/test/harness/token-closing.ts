import { microUsd } from '@florin/protocol/money.ts';
import type { ChainConditions, Chains } from '#chains/chain.ts';

/** Chains of which the test stops tokens, or takes all nodes away: without that no process of the world knows any condition. */
export function withStops(
  chains: Chains,
  stopped: ReadonlySet<string>,
  unreachable: ReadonlySet<number> = new Set(),
): Chains {
  const conditions: ChainConditions = {
    version: () => 1,
    of: (chainId) =>
      unreachable.has(chainId)
        ? { status: 'unavailable', reason: 'chain_unreachable', secondsToFinal: 0 }
        : { status: 'available', reason: '', secondsToFinal: 0 },
    payoutCap: () => microUsd(0n),
    isStopped: (tokenId) => stopped.has(tokenId),
  };
  // Not a spread of the getter, which would read it once.
  return Object.defineProperty({ ...chains }, 'conditions', {
    get: () => (stopped.size + unreachable.size === 0 ? undefined : conditions),
  });
}
