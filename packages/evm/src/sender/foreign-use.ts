import type { Queryable } from '@florin/pg';
import type { Hex } from 'viem';
import type { Rpc } from '../nodes/rpc.ts';
import type { FollowedChain } from '../watcher/chain.ts';
import { finalTransactionCount } from './context.ts';
import { noncesOfOurs } from './sender.sql.ts';

/** Final transactions looked at: older ones were looked at when they were new. */
const lookedAt = 1_000n;

/**
 * How many of a wallet's newest final transactions this database has not sent: somebody else has the wallet's key. Those
 * before its first own transaction since `since` do not count, because a wallet may have been used before, and a database
 * that is restored at `since` has forgotten some. Throws `RpcUnavailable` and `RpcError`.
 */
export async function countForeignTransactions(
  { db, rpc }: { readonly db: Queryable; readonly rpc: Rpc },
  { chain, wallet, since }: { readonly chain: FollowedChain; readonly wallet: Hex; readonly since: Date },
): Promise<number> {
  // Read first: what a block has was stored before it was sent.
  const below = await finalTransactionCount({ db, wallet: { address: wallet } }, chain, rpc);
  const from = below > lookedAt ? below - lookedAt : 0n;
  const asked = { chainId: chain.chainId, wallet: wallet.toLowerCase(), from, below, since };
  const [ours] = await db.query(noncesOfOurs, asked);
  const { first = null, used = 0n } = ours ?? {};
  return first === null ? 0 : Number(below - first - used);
}
