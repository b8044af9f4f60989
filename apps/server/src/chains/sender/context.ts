import { getTransactionCount, type Rpc, RpcError, RpcUnavailable } from '@florin/evm';
import type { Database } from '@florin/pg';
import type { Clock } from '#outside/clock.ts';
import type { Log } from '#telemetry/log.ts';
import type { Chain, Chains } from '../chain.ts';
import { findCursor } from '../watcher/cursor.ts';
import type { OutcomeHandler } from './sent.ts';
import type { WalletSigner } from './wallet.ts';

export interface SenderSettings {
  /** A transaction unmined for so long offers more. */
  readonly replaceAfterMs: number;
  /** An unmined transaction is handed to the network again so often. */
  readonly rebroadcastAfterMs: number;
  /** Wei per gas that recent blocks' tips may not go below. */
  readonly minTip: bigint;
  /** No transaction may need more gas (EIP-7825 ends at 2^24). */
  readonly maxGas: bigint;
}

export const defaultSenderSettings: SenderSettings = {
  replaceAfterMs: 30_000,
  rebroadcastAfterMs: 2_000,
  minTip: 1_000_000n,
  maxGas: 16_000_000n,
};

export interface SenderOptions {
  readonly chains: Chains;
  readonly rpcOf: (chainId: number) => Rpc;
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly wallet: WalletSigner;
  /** More wallets with the same roles: each has nonces of its own, so that one that is stuck holds up only its part. */
  readonly otherWallets?: readonly WalletSigner[];
  /**
   * Sends payments of others, and nothing else, while it has gas; the wallets above send them where it is absent or has
   * none. It must be none of those.
   */
  readonly relayer?: WalletSigner;
  /** Wei per gas that no transaction may offer more than; above it, it waits. */
  readonly maxFeePerGas: bigint;
  readonly onOutcome: OutcomeHandler;
  readonly settings?: Partial<SenderSettings>;
}

/** What the parts of the sender share; one for each wallet. */
export interface SenderContext extends Omit<SenderOptions, 'settings' | 'otherWallets' | 'relayer'> {
  readonly settings: SenderSettings;
}

/**
 * How many of the wallet's transactions are final: every smaller nonce is gone for good. By the chain's tag; a node
 * that does not know the tag is asked for our own final block. Where finality takes long, a node that is no archive has
 * the state of neither: then it is the count at the head. What that may get wrong mostly heals: a nonce skipped by a reorg
 * is filled, and what is given up too early and mined after all is work that counts once. Not healed is a nonce that was
 * given up and whose other transaction a reorg then takes back: what comes behind it waits for a hand (docs/runbook/restore.md).
 */
export async function finalTransactionCount(context: SenderContext, chain: Chain, rpc: Rpc): Promise<bigint> {
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

export function requireChain(context: SenderContext, chainId: number): Chain {
  const chain = context.chains.byId(chainId);
  if (chain === undefined) throw new Error(`chain ${chainId} is not configured`);
  return chain;
}
