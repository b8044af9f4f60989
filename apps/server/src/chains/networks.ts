import type { NetworkFacts } from '@florin/protocol/checkout-order.ts';
import { ether, findKnownChain } from '@florin/protocol/known-chain.ts';
import type { Chain } from './chain.ts';

/** The network's display name. */
export function networkTitle(chain: Pick<Chain, 'chainId' | 'name'>): string {
  return (
    findKnownChain(chain.chainId)?.network?.title ?? chain.name.charAt(0).toUpperCase() + chain.name.slice(1)
  );
}

const loopback = /^http:\/\/(127\.0\.0\.1|localhost|\[::1\])(:\d+)?(\/|$)/;

/**
 * The facts that a wallet needs to add a network. Configured nodes are left out, because their URLs may contain keys,
 * except nodes on loopback, as in the local world.
 */
export function networkFactsOf(chain: Chain): NetworkFacts | undefined {
  const facts = findKnownChain(chain.chainId)?.network;
  if (facts !== undefined) {
    const { rpcUrl, explorer, currency } = facts;
    return { rpcUrl, explorer, currency };
  }
  const rpcUrl = chain.rpcUrls.find((url) => loopback.test(url));
  return rpcUrl === undefined ? undefined : { rpcUrl, explorer: '', currency: ether };
}
