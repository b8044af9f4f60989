import { microUsd } from '@florin/protocol/money.ts';
import type { ChainConditions, Chains } from '#chains/chain.ts';

/** Chains of which the test stops tokens: without a stop no process of the world knows any condition, as before. */
export function withStops(chains: Chains, stopped: ReadonlySet<string>): Chains {
  const conditions: ChainConditions = {
    version: () => 1,
    of: () => ({ status: 'available', reason: '', secondsToFinal: 0 }),
    payoutCap: () => microUsd(0n),
    isStopped: (tokenId) => stopped.has(tokenId),
  };
  // Not a spread of the getter, which would read it once.
  return Object.defineProperty({ ...chains }, 'conditions', {
    get: () => (stopped.size === 0 ? undefined : conditions),
  });
}
