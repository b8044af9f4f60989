import type { Hex } from './order.ts';

/** One stablecoin on one configured chain. */
export interface Token {
  /** `<chain>::<token>`, such as `base::usdc`. */
  readonly tokenId: string;
  readonly chainName: string;
  readonly chainId: number;
  /** Checksummed contract address. */
  readonly address: Hex;
  readonly name: string;
  readonly symbol: string;
  /** 6 to 18. */
  readonly decimals: number;
}

/** How the money gets from the payer's token to the settlement token. */
export type RouteKind = 'same_token' | 'same_chain' | 'cross_chain';
