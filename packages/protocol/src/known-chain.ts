/** What is public about an EVM chain. */
export interface KnownChain {
  readonly chainId: number;
  /** What a wallet is told when it asks for the network; absent where we name none. */
  readonly network?: KnownNetwork;
  /** Usual seconds until a new block has each tag, as the chain documents them. */
  readonly secondsToFinal?: { readonly finalized: number; readonly safe: number; readonly latest: number };
  /**
   * Circle's number of the chain (developers.circle.com/cctp/concepts/supported-chains-and-domains). All of them are in
   * the code of the CCTP route: a new one changes the addresses of the route and the gateway.
   */
  readonly cctpDomain?: number;
  /** Dollar tokens at the addresses that their issuers publish. */
  readonly tokens?: readonly KnownToken[];
}

/**
 * Public facts of a network for wallets that ask. Endpoints come from the networks' own documents, or, where a network
 * runs none (Ethereum, Polygon), from a public one without a key. Names, coins and explorers come from the list that
 * wallets check against (github.com/ethereum-lists/chains). Looked up on 2026-11-21.
 */
export interface KnownNetwork {
  readonly title: string;
  readonly rpcUrl: string;
  readonly explorer: string;
  readonly currency: { readonly name: string; readonly symbol: string; readonly decimals: number };
}

export interface KnownToken {
  readonly symbol: string;
  readonly address: string;
  readonly decimals: number;
}

export const ether = { name: 'Ether', symbol: 'ETH', decimals: 18 };

const usdc = (address: string): KnownToken => ({ symbol: 'USDC', address, decimals: 6 });

/** Every chain of which we know something. Agents that may choose pay on the first of them. */
export const knownChains: readonly KnownChain[] = [
  {
    chainId: 8_453,
    network: {
      ...{ title: 'Base', rpcUrl: 'https://mainnet.base.org', explorer: 'https://basescan.org' },
      currency: ether,
    },
    secondsToFinal: { finalized: 1500, safe: 120, latest: 2 },
    cctpDomain: 6,
    tokens: [usdc('0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913')],
  },
  {
    chainId: 42_161,
    network: {
      ...{ title: 'Arbitrum One', rpcUrl: 'https://arb1.arbitrum.io/rpc', explorer: 'https://arbiscan.io' },
      currency: ether,
    },
    secondsToFinal: { finalized: 1500, safe: 600, latest: 1 },
    cctpDomain: 3,
    tokens: [usdc('0xaf88d065e77c8cC2239327C5EDb3A432268e5831')],
  },
  {
    chainId: 10,
    network: {
      title: 'OP Mainnet',
      rpcUrl: 'https://mainnet.optimism.io',
      explorer: 'https://optimistic.etherscan.io',
      currency: ether,
    },
    secondsToFinal: { finalized: 1500, safe: 120, latest: 2 },
    cctpDomain: 2,
    tokens: [usdc('0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85')],
  },
  {
    chainId: 137,
    network: {
      ...{ title: 'Polygon', rpcUrl: 'https://polygon.drpc.org', explorer: 'https://polygonscan.com' },
      currency: { name: 'POL', symbol: 'POL', decimals: 18 },
    },
    secondsToFinal: { finalized: 6, safe: 6, latest: 2 },
    cctpDomain: 7,
    tokens: [usdc('0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359')],
  },
  {
    chainId: 43_114,
    network: {
      title: 'Avalanche C-Chain',
      rpcUrl: 'https://api.avax.network/ext/bc/C/rpc',
      explorer: 'https://snowtrace.io',
      currency: { name: 'Avalanche', symbol: 'AVAX', decimals: 18 },
    },
    cctpDomain: 1,
    tokens: [usdc('0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E')],
  },
  {
    chainId: 1,
    network: {
      title: 'Ethereum',
      rpcUrl: 'https://ethereum-rpc.publicnode.com',
      explorer: 'https://etherscan.io',
      currency: ether,
    },
    secondsToFinal: { finalized: 900, safe: 480, latest: 12 },
    cctpDomain: 0,
    tokens: [
      usdc('0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'),
      { symbol: 'USDT', address: '0xdAC17F958D2ee523a2206206994597C13D831ec7', decimals: 6 },
    ],
  },
  {
    chainId: 56,
    network: {
      title: 'BNB Smart Chain',
      rpcUrl: 'https://bsc-dataseed.bnbchain.org',
      explorer: 'https://bscscan.com',
      currency: { name: 'BNB', symbol: 'BNB', decimals: 18 },
    },
    secondsToFinal: { finalized: 3, safe: 3, latest: 1 },
  },
  {
    chainId: 130,
    network: {
      ...{ title: 'Unichain', rpcUrl: 'https://mainnet.unichain.org', explorer: 'https://uniscan.xyz' },
      currency: ether,
    },
    cctpDomain: 10,
  },
  {
    chainId: 59_144,
    network: {
      ...{ title: 'Linea', rpcUrl: 'https://rpc.linea.build', explorer: 'https://lineascan.build' },
      currency: ether,
    },
    cctpDomain: 11,
  },
  { chainId: 146, cctpDomain: 13 },
  { chainId: 480, cctpDomain: 14 },
  { chainId: 143, cctpDomain: 15 },
  { chainId: 1_329, cctpDomain: 16 },
  { chainId: 50, cctpDomain: 18 },
  { chainId: 999, cctpDomain: 19 },
  { chainId: 57_073, cctpDomain: 21 },
];

const byId = new Map(knownChains.map((chain) => [chain.chainId, chain]));

export function findKnownChain(chainId: number): KnownChain | undefined {
  return byId.get(chainId);
}
