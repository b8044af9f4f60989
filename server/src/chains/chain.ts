import type { Hex } from '@florin/protocol/order.ts';
import type { Token } from '@florin/protocol/token.ts';

/** When a block of a chain counts as final: at or below the tagged block, and at least `depth` blocks under the head. */
export interface FinalityPolicy {
  readonly tag: 'finalized' | 'safe' | 'latest';
  readonly depth: number;
}

/** One configured EVM chain. */
export interface Chain {
  /** Lower-case name, the first half of its token ids. */
  readonly name: string;
  readonly chainId: number;
  readonly rpcUrls: readonly string[];
  readonly gateway: Hex;
  readonly vault: Hex;
  /** Where watching begins: at or before the block of the contracts' deployment. */
  readonly startBlock: bigint;
  readonly finality: FinalityPolicy;
  readonly pollIntervalMs: number;
  readonly tokens: readonly Token[];
}

/** The configured chains and tokens, looked up by every key that the service uses. */
export interface Chains {
  readonly all: readonly Chain[];
  byId(chainId: number): Chain | undefined;
  byName(name: string): Chain | undefined;
  /** By `<chain>::<token>`. */
  token(tokenId: string): Token | undefined;
  /** By chain and contract address, in any letter case. */
  tokenAt(chainId: number, address: string): Token | undefined;
  readonly tokens: readonly Token[];
}

/** Indexes the configured chains. The configuration has already refused duplicates. */
export function chainsOf(all: readonly Chain[]): Chains {
  const tokens = all.flatMap((chain) => chain.tokens);
  const ids = new Map(all.map((chain) => [chain.chainId, chain]));
  const names = new Map(all.map((chain) => [chain.name, chain]));
  const tokenIds = new Map(tokens.map((token) => [token.tokenId, token]));
  const addresses = new Map(
    tokens.map((token) => [`${token.chainId}:${token.address.toLowerCase()}`, token]),
  );
  return {
    all,
    tokens,
    byId: (chainId) => ids.get(chainId),
    byName: (name) => names.get(name),
    token: (tokenId) => tokenIds.get(tokenId),
    tokenAt: (chainId, address) => addresses.get(`${chainId}:${address.toLowerCase()}`),
  };
}
