import type { Hex } from './order.ts';

/**
 * How a holder can allow another party to move tokens by signature: EIP-2612, EIP-3009, or Uniswap's Permit2 once the
 * holder has approved that contract.
 */
export const permitKinds = ['eip2612', 'eip3009', 'permit2'] as const;
export type PermitKind = (typeof permitKinds)[number];

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
  /** The methods that the operator expects of the contract, in order of permitKinds; absent: as the chain reports. */
  readonly permits?: readonly PermitKind[] | undefined;
}

/** How the money gets from the payer's token to the settlement token. */
export type RouteKind = 'same_token' | 'same_chain' | 'cross_chain';
