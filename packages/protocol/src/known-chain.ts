import type { PermitKind } from './token.ts';

/** What is public about an EVM chain. */
export interface KnownChain {
  readonly chainId: number;
  /** For rehearsals: its money is worth nothing, and agents never choose it by themselves. */
  readonly isTestnet?: true;
  /** What a wallet is told when it asks for the network; absent where we name none. */
  readonly network?: KnownNetwork;
  /** Usual seconds until a new block has each tag, as the chain documents them. */
  readonly secondsToFinal?: { readonly finalized: number; readonly safe: number; readonly latest: number };
  /** The tag from which a block is final for the service; absent: the operator decides. */
  readonly finality?: 'finalized';
  /**
   * Circle's number of the chain (developers.circle.com/cctp/concepts/supported-chains-and-domains). All of a network are in
   * the code of its CCTP route: a new one changes the address of the route.
   */
  readonly cctpDomain?: number;
  /** Who charges for the calldata of a transaction besides its gas; absent: no one does, or it is in the gas. */
  readonly dataFee?: 'op-stack' | 'arbitrum' | 'linea';
  /** Whether the chain has the transient storage that the contracts use (EIP-1153); absent: not verified. `florin deploy` tries. */
  readonly hasTransientStorage?: true;
  /** Whether Etherscan's API v2 verifies contracts of the chain. */
  readonly isOnEtherscan?: true;
  /** Why Florin's contracts cannot be used there, as the end of a sentence. */
  readonly unfit?: string;
  /** Dollar tokens at the addresses that their issuers publish. */
  readonly tokens?: readonly KnownToken[];
}

/**
 * Public facts of a network for wallets that ask. Endpoints come from the networks' own documents, or, where a network
 * runs none (Ethereum, Polygon), from a public one without a key. Names, coins and explorers come from the list that
 * wallets check against (github.com/ethereum-lists/chains). Looked up on 2026-11-21, testnets on 2026-11-27.
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
  /** How a holder can consent by signature; absent: as the contract reports. */
  readonly permits?: readonly PermitKind[];
  /** The address comes from others than the issuer, or was not compared with its page: agents do not choose the token. */
  readonly isUnverified?: true;
}

/** Circle's contracts of CCTP v2, at one address on every chain of a network (developers.circle.com/cctp/references/contract-addresses). */
export const circleContracts = {
  main: {
    tokenMessenger: '0x28b5a0e9C621a5BadaA536219b3a228C8168cf5d',
    messageTransmitter: '0x81D40F21F12A8F0E3252Bccb954D722d4c464B64',
  },
  test: {
    tokenMessenger: '0x8FE6B999Dc680CcFDD5Bf7EB0974218be2542DAA',
    messageTransmitter: '0xE737e5cEBEEBa77EFE34D4aa090756590b1CE275',
  },
} as const;

export const ether = { name: 'Ether', symbol: 'ETH', decimals: 18 };
const sepoliaEther = { name: 'Sepolia Ether', symbol: 'ETH', decimals: 18 };
const pol = { name: 'POL', symbol: 'POL', decimals: 18 };

/** Circle's own token, with the addresses of its SDK (npm, @circle-fin/bridge-kit 1.15.1). */
const usdc = (address: string): KnownToken => ({
  ...{ symbol: 'USDC', address, decimals: 6 },
  permits: ['eip2612', 'eip3009', 'permit2'],
});

/** A token whose address was found in public code, and not compared with its issuer's page. */
const unverified = (symbol: string, address: string, decimals: number): KnownToken => ({
  ...{ symbol, address, decimals },
  isUnverified: true,
});

/** What the chains of the OP stack have in common. */
const opStack = { dataFee: 'op-stack', ...verifiable() } as const;

/** Its EVM was London's for years: whether it has what the contracts need is tried by `florin deploy`. */
const linea = { dataFee: 'linea', finality: 'finalized', isOnEtherscan: true } as const;

function verifiable() {
  return { finality: 'finalized', hasTransientStorage: true, isOnEtherscan: true } as const;
}

/** Every chain of which we know something. Agents that may choose pay on the first of them. */
export const knownChains: readonly KnownChain[] = [
  {
    ...{ chainId: 8_453, ...opStack },
    network: {
      ...{ title: 'Base', rpcUrl: 'https://mainnet.base.org', explorer: 'https://basescan.org' },
      currency: ether,
    },
    secondsToFinal: { finalized: 1500, safe: 120, latest: 2 },
    cctpDomain: 6,
    tokens: [
      usdc('0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'),
      unverified('USDT', '0xfde4C96c8593536E31F229EA8f37b2ADa2699bb2', 6),
    ],
  },
  {
    ...{ chainId: 42_161, ...verifiable() },
    dataFee: 'arbitrum',
    network: {
      ...{ title: 'Arbitrum One', rpcUrl: 'https://arb1.arbitrum.io/rpc', explorer: 'https://arbiscan.io' },
      currency: ether,
    },
    secondsToFinal: { finalized: 1500, safe: 600, latest: 1 },
    cctpDomain: 3,
    tokens: [
      usdc('0xaf88d065e77c8cC2239327C5EDb3A432268e5831'),
      unverified('USD₮0', '0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9', 6),
    ],
  },
  {
    ...{ chainId: 10, ...opStack },
    network: {
      title: 'OP Mainnet',
      rpcUrl: 'https://mainnet.optimism.io',
      explorer: 'https://optimistic.etherscan.io',
      currency: ether,
    },
    secondsToFinal: { finalized: 1500, safe: 120, latest: 2 },
    cctpDomain: 2,
    tokens: [
      usdc('0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85'),
      unverified('USD₮0', '0x01bFF41798a0BcF287b996046Ca68b395DbC1071', 6),
    ],
  },
  {
    ...{ chainId: 137, ...verifiable() },
    network: {
      ...{ title: 'Polygon', rpcUrl: 'https://polygon.drpc.org', explorer: 'https://polygonscan.com' },
      currency: pol,
    },
    secondsToFinal: { finalized: 6, safe: 6, latest: 2 },
    cctpDomain: 7,
    tokens: [
      usdc('0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359'),
      unverified('USDT0', '0xc2132D05D31c914a87C6611C10748AEb04B58e8F', 6),
    ],
  },
  {
    ...{ chainId: 43_114, ...verifiable() },
    network: {
      title: 'Avalanche C-Chain',
      rpcUrl: 'https://api.avax.network/ext/bc/C/rpc',
      explorer: 'https://snowtrace.io',
      currency: { name: 'Avalanche', symbol: 'AVAX', decimals: 18 },
    },
    cctpDomain: 1,
    tokens: [
      usdc('0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E'),
      unverified('USDt', '0x9702230A8Ea53601f5cD2dc00fDBc13d4dF4A8c7', 6),
    ],
  },
  {
    ...{ chainId: 1, ...verifiable() },
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
      {
        ...{ symbol: 'USDT', address: '0xdAC17F958D2ee523a2206206994597C13D831ec7', decimals: 6 },
        permits: ['permit2'],
      },
      unverified('DAI', '0x6B175474E89094C44Da98b954EedeAC495271d0F', 18),
      unverified('USDS', '0xdC035D45d973E3EC169d2276DDab16f1e407384F', 18),
      unverified('PYUSD', '0x6c3ea9036406852006290770BEdFcAbA0e23A0e8', 6),
    ],
  },
  {
    ...{ chainId: 56, ...verifiable() },
    network: {
      title: 'BNB Smart Chain',
      rpcUrl: 'https://bsc-dataseed.bnbchain.org',
      explorer: 'https://bscscan.com',
      currency: { name: 'BNB', symbol: 'BNB', decimals: 18 },
    },
    secondsToFinal: { finalized: 3, safe: 3, latest: 1 },
    // Binance's own representations, with 18 decimals. Circle and Tether issue nothing there, and CCTP takes no USDC.
    tokens: [
      unverified('USDC', '0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d', 18),
      unverified('USDT', '0x55d398326f99059fF775485246999027B3197955', 18),
    ],
  },
  {
    ...{ chainId: 130, ...opStack },
    network: {
      ...{ title: 'Unichain', rpcUrl: 'https://mainnet.unichain.org', explorer: 'https://uniscan.xyz' },
      currency: ether,
    },
    cctpDomain: 10,
    tokens: [
      usdc('0x078D782b760474a361dDA0AF3839290b0EF57AD6'),
      unverified('USD₮0', '0x9151434b16b9763660705744891fA906F660EcC5', 6),
    ],
  },
  {
    chainId: 59_144,
    ...linea,
    network: {
      ...{ title: 'Linea', rpcUrl: 'https://rpc.linea.build', explorer: 'https://lineascan.build' },
      currency: ether,
    },
    cctpDomain: 11,
    tokens: [usdc('0x176211869cA2b568f2A7D4EE941E073a821EE1ff')],
  },
  {
    ...{ chainId: 480, ...opStack },
    network: {
      title: 'World Chain',
      rpcUrl: 'https://worldchain-mainnet.g.alchemy.com/public',
      explorer: 'https://worldscan.org',
      currency: ether,
    },
    cctpDomain: 14,
    tokens: [usdc('0x79A02482A880bCE3F13e09Da970dC34db4CD24d1')],
  },
  { chainId: 146, cctpDomain: 13 },
  { chainId: 143, cctpDomain: 15 },
  { chainId: 1_329, cctpDomain: 16 },
  { chainId: 50, cctpDomain: 18 },
  { chainId: 999, cctpDomain: 19 },
  { chainId: 57_073, cctpDomain: 21 },
  ...[324, 300].map((chainId) => ({
    chainId,
    unfit:
      'ZKsync derives the addresses of CREATE2 otherwise and runs other code, so an operator would have no gateway at its address there',
  })),
  testnet(11_155_111, {
    ...verifiable(),
    network: {
      title: 'Sepolia',
      rpcUrl: 'https://ethereum-sepolia-rpc.publicnode.com',
      explorer: 'https://sepolia.etherscan.io',
      currency: sepoliaEther,
    },
    cctpDomain: 0,
    tokens: [usdc('0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238')],
  }),
  testnet(84_532, {
    ...opStack,
    network: {
      title: 'Base Sepolia',
      rpcUrl: 'https://sepolia.base.org',
      explorer: 'https://sepolia.basescan.org',
      currency: sepoliaEther,
    },
    cctpDomain: 6,
    tokens: [usdc('0x036CbD53842c5426634e7929541eC2318f3dCF7e')],
  }),
  testnet(421_614, {
    ...verifiable(),
    dataFee: 'arbitrum',
    network: {
      title: 'Arbitrum Sepolia',
      rpcUrl: 'https://sepolia-rollup.arbitrum.io/rpc',
      explorer: 'https://sepolia.arbiscan.io',
      currency: { name: 'Arbitrum Sepolia Ether', symbol: 'ETH', decimals: 18 },
    },
    cctpDomain: 3,
    tokens: [usdc('0x75faf114eafb1BDbe2F0316DF893fd58CE46AA4d')],
  }),
  testnet(11_155_420, {
    ...opStack,
    network: {
      title: 'OP Sepolia',
      rpcUrl: 'https://sepolia.optimism.io',
      explorer: 'https://optimism-sepolia.blockscout.com',
      currency: sepoliaEther,
    },
    cctpDomain: 2,
    tokens: [usdc('0x5fd84259d66Cd46123540766Be93DFE6D43130D7')],
  }),
  testnet(80_002, {
    ...verifiable(),
    network: {
      title: 'Polygon Amoy',
      rpcUrl: 'https://polygon-amoy.drpc.org',
      explorer: 'https://amoy.polygonscan.com',
      currency: pol,
    },
    cctpDomain: 7,
    tokens: [usdc('0x41E94Eb019C0762f9Bfcf9Fb1E58725BfB0e7582')],
  }),
  testnet(43_113, {
    ...verifiable(),
    network: {
      title: 'Avalanche Fuji',
      rpcUrl: 'https://api.avax-test.network/ext/bc/C/rpc',
      explorer: 'https://testnet.snowtrace.io',
      currency: { name: 'Avalanche Fuji', symbol: 'AVAX', decimals: 18 },
    },
    cctpDomain: 1,
    tokens: [usdc('0x5425890298aed601595a70AB815c96711a31Bc65')],
  }),
  testnet(97, {
    ...verifiable(),
    network: {
      title: 'BNB Smart Chain Testnet',
      rpcUrl: 'https://bsc-testnet-rpc.publicnode.com',
      explorer: 'https://testnet.bscscan.com',
      currency: { name: 'BNB', symbol: 'tBNB', decimals: 18 },
    },
  }),
  testnet(59_141, {
    ...linea,
    network: {
      title: 'Linea Sepolia Testnet',
      rpcUrl: 'https://rpc.sepolia.linea.build',
      explorer: 'https://sepolia.lineascan.build',
      currency: { name: 'Linea Ether', symbol: 'ETH', decimals: 18 },
    },
    cctpDomain: 11,
    tokens: [usdc('0xFEce4462D57bD51A6A552365A011b95f0E16d9B7')],
  }),
  testnet(1_301, {
    ...opStack,
    network: {
      title: 'Unichain Sepolia',
      rpcUrl: 'https://sepolia.unichain.org',
      explorer: 'https://sepolia.uniscan.xyz',
      currency: ether,
    },
    cctpDomain: 10,
    tokens: [usdc('0x31d0220469e10c4E71834a79b1f276d740d3768F')],
  }),
  testnet(4_801, {
    ...opStack,
    network: {
      title: 'World Chain Sepolia',
      rpcUrl: 'https://worldchain-sepolia.g.alchemy.com/public',
      explorer: 'https://sepolia.worldscan.org',
      currency: sepoliaEther,
    },
    cctpDomain: 14,
    tokens: [usdc('0x66145f38cBAC35Ca6F1Dfb4914dF98F1614aeA88')],
  }),
];

function testnet(chainId: number, facts: Omit<KnownChain, 'chainId' | 'isTestnet'>): KnownChain {
  return { chainId, isTestnet: true, ...facts };
}

const byId = new Map(knownChains.map((chain) => [chain.chainId, chain]));

export function findKnownChain(chainId: number): KnownChain | undefined {
  return byId.get(chainId);
}
