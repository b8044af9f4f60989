import type { NetworkFacts } from '@florin/protocol/checkout-api.ts';
import type { Chain } from '#chains/chain.ts';

interface KnownNetwork extends NetworkFacts {
  readonly title: string;
}

const ether = { name: 'Ether', symbol: 'ETH', decimals: 18 };

function known(title: string, rpcUrl: string, explorer: string, currency = ether): KnownNetwork {
  return { title, rpcUrl, explorer, currency };
}

/**
 * Public facts of networks for wallets that ask. Endpoints come from the networks' own documents, or, where a network
 * runs none (Ethereum, Polygon), from a public one without a key. Names, coins and explorers come from the list that
 * wallets check against (github.com/ethereum-lists/chains). Looked up on 2026-11-21.
 */
const networks: Readonly<Record<number, KnownNetwork>> = {
  1: known('Ethereum', 'https://ethereum-rpc.publicnode.com', 'https://etherscan.io'),
  10: known('OP Mainnet', 'https://mainnet.optimism.io', 'https://optimistic.etherscan.io'),
  56: known('BNB Smart Chain', 'https://bsc-dataseed.bnbchain.org', 'https://bscscan.com', {
    name: 'BNB',
    symbol: 'BNB',
    decimals: 18,
  }),
  130: known('Unichain', 'https://mainnet.unichain.org', 'https://uniscan.xyz'),
  137: known('Polygon', 'https://polygon.drpc.org', 'https://polygonscan.com', {
    name: 'POL',
    symbol: 'POL',
    decimals: 18,
  }),
  8453: known('Base', 'https://mainnet.base.org', 'https://basescan.org'),
  42161: known('Arbitrum One', 'https://arb1.arbitrum.io/rpc', 'https://arbiscan.io'),
  43114: known('Avalanche C-Chain', 'https://api.avax.network/ext/bc/C/rpc', 'https://snowtrace.io', {
    name: 'Avalanche',
    symbol: 'AVAX',
    decimals: 18,
  }),
  59144: known('Linea', 'https://rpc.linea.build', 'https://lineascan.build'),
};

/** The network's display name. */
export function networkTitle(chain: Pick<Chain, 'chainId' | 'name'>): string {
  return networks[chain.chainId]?.title ?? chain.name.charAt(0).toUpperCase() + chain.name.slice(1);
}

const loopback = /^http:\/\/(127\.0\.0\.1|localhost|\[::1\])(:\d+)?(\/|$)/;

/**
 * The facts that a wallet needs to add a network. Configured nodes are left out, because their URLs may contain keys,
 * except nodes on loopback, as in the local world.
 */
export function networkFactsOf(chain: Chain): NetworkFacts | undefined {
  const facts = networks[chain.chainId];
  if (facts !== undefined) {
    const { rpcUrl, explorer, currency } = facts;
    return { rpcUrl, explorer, currency };
  }
  const rpcUrl = chain.rpcUrls.find((url) => loopback.test(url));
  return rpcUrl === undefined ? undefined : { rpcUrl, explorer: '', currency: ether };
}
