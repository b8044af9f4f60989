import type { Database, Queryable } from '@florin/pg';
import type { Clock, Log } from '../context.ts';
import { getTransactionCount } from '../nodes/actions.ts';
import { type Rpc, RpcError, RpcUnavailable } from '../nodes/rpc.ts';
import type { FollowedChain } from '../watcher/chain.ts';
import { findCursor } from '../watcher/cursor.ts';
import type { OutcomeHandler, PurposeRules } from './sent.ts';
import type { WalletSigner } from './wallet.ts';

export interface SenderSettings {
  /** Age at which an unmined transaction is replaced with higher fees. */
  readonly replaceAfterMs: number;
  /** Interval at which an unmined transaction is broadcast again. */
  readonly rebroadcastAfterMs: number;
  /** The lowest priority fee offered, in wei per gas. */
  readonly minTip: bigint;
  /** The highest gas limit of a transaction (EIP-7825 allows 2^24). */
  readonly maxGas: bigint;
}

export const defaultSenderSettings: SenderSettings = {
  replaceAfterMs: 30_000,
  rebroadcastAfterMs: 2_000,
  minTip: 1_000_000n,
  maxGas: 16_000_000n,
};

export interface SenderOptions<Purpose extends string = string> {
  readonly chains: readonly FollowedChain[];
  readonly rpcOf: (chainId: number) => Rpc;
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly purposes: PurposeRules<Purpose>;
  readonly wallet: WalletSigner;
  /** More wallets with the same roles. Each has its own nonces, so a stuck wallet delays only its own transactions. */
  readonly otherWallets?: readonly WalletSigner[];
  /**
   * Sends only the relayed purposes, while it has gas. Where it is absent or has no gas, the wallets above send them.
   * It must be none of those wallets.
   */
  readonly relayer?: WalletSigner | undefined;
  /** The highest fee offered, in wei per gas. Where the network asks for more, transactions wait. */
  readonly maxFeePerGas: bigint;
  readonly onOutcome: OutcomeHandler;
  readonly settings?: Partial<SenderSettings>;
}

/** The shared state of the sender's parts; one per wallet. */
export interface SenderContext extends Omit<SenderOptions, 'settings' | 'otherWallets' | 'relayer'> {
  readonly settings: SenderSettings;
}

/**
 * The number of the wallet's final transactions: smaller nonces can never be used again. A node without archive may
 * lack the state of a block. So the sender asks by the chain's tag, then by our own final block, then by the node's
 * head. The count at the head may be wrong after a reorg. A skipped nonce is then filled, and work that was given up
 * too early counts once. One case needs an operator: a nonce was given up, and a reorg then removes the foreign
 * transaction that had used it.
 */
export async function finalTransactionCount(
  context: { readonly db: Queryable; readonly wallet: Pick<WalletSigner, 'address'> },
  chain: FollowedChain,
  rpc: Rpc,
): Promise<bigint> {
  const { tag } = chain.finality;
  const { address } = context.wallet;
  if (tag !== 'latest') {
    try {
      return await getTransactionCount(rpc, address, tag);
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
    }
  }
  const cursor = await findCursor(context.db, chain.chainId);
  if (cursor === undefined) throw new RpcUnavailable(`chain ${chain.chainId} is not followed yet`);
  try {
    return await getTransactionCount(rpc, address, cursor.finalNumber);
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    return getTransactionCount(rpc, address, 'latest');
  }
}

export function requireChain(context: SenderContext, chainId: number): FollowedChain {
  const chain = context.chains.find((each) => each.chainId === chainId);
  if (chain === undefined) throw new Error(`chain ${chainId} is not configured`);
  return chain;
}
