import { findKnownChain } from '@florin/protocol/known-chain.ts';

/** A token that a world puts on a chain. */
export interface LocalToken {
  readonly key: string;
  readonly permits: readonly ('eip2612' | 'eip3009' | 'permit2')[];
  readonly artifact: 'LocalUsdc' | 'LocalUsdt' | 'LocalDai';
  readonly symbol: string;
  readonly name: string;
  readonly decimals: number;
}

/** A chain that a world runs. */
export interface LocalChain {
  readonly name: string;
  readonly chainId: number;
  readonly tokens: readonly LocalToken[];
  /** Circle's number of the public chain that it replaces; absent where Circle has none. */
  readonly cctpDomain: number | undefined;
}

/** The key of the token that CCTP moves. */
export const cctpTokenKey = 'usdc';

const usdc: LocalToken = {
  key: cctpTokenKey,
  artifact: 'LocalUsdc',
  symbol: 'USDC',
  name: 'USD Coin',
  decimals: 6,
  permits: ['eip2612', 'eip3009', 'permit2'],
};
const usdt: LocalToken = {
  key: 'usdt',
  artifact: 'LocalUsdt',
  symbol: 'USDT',
  name: 'Tether USD',
  decimals: 6,
  permits: ['permit2'],
};
const dai: LocalToken = {
  key: 'dai',
  artifact: 'LocalDai',
  symbol: 'DAI',
  name: 'Dai Stablecoin',
  decimals: 18,
  permits: ['eip2612', 'permit2'],
};

/** A local chain in place of a public one: its other properties follow from this. */
const standingFor = (knownId: number, chain: Omit<LocalChain, 'cctpDomain'>): LocalChain => ({
  ...chain,
  cctpDomain: findKnownChain(knownId)?.cctpDomain,
});

/** Every chain of a world. */
export const localChains: readonly LocalChain[] = [
  standingFor(1, { name: 'ethereum', chainId: 31_337, tokens: [usdc, usdt] }),
  standingFor(8_453, { name: 'base', chainId: 31_338, tokens: [usdc, usdt, dai] }),
];
