import type { Chain } from '../chain.ts';
import { calls, checkReceipt, getBlock, parseHeader, parseReceipt, type Receipt } from '../rpc/actions.ts';
import { type Rpc, resultOf } from '../rpc/rpc.ts';
import { keptBlocks } from '../watcher/chain-move.ts';
import type { ChainCursor } from '../watcher/cursor.ts';
import { blocksAt } from '../watcher/watcher.sql.ts';
import type { SenderContext } from './context.ts';
import { setMined } from './sender.sql.ts';
import { conclude, type PendingTransaction } from './store.ts';

/** Where a pending transaction stands on the chain. */
export type Standing =
  /** In a block of the stored chain. */
  | { readonly kind: 'mined'; readonly receipt: Receipt; readonly blockTime: Date }
  /** In no block, says a node that is as far as we are. */
  | { readonly kind: 'unmined' }
  /** In a block that we do not have (yet), or the node is behind: look again later. */
  | { readonly kind: 'unclear' };

/** Transactions whose receipts are asked for together; each may have several attempts. */
const lookupBatch = 50;

/** Looks up all attempts of pending transactions, by id. */
export async function findStandings(
  context: SenderContext,
  rpc: Rpc,
  followed: { readonly chain: Chain; readonly cursor: ChainCursor },
  pending: readonly PendingTransaction[],
): Promise<ReadonlyMap<bigint, Standing>> {
  const standings = new Map<bigint, Standing>();
  for (let start = 0; start < pending.length; start += lookupBatch) {
    const batch = pending.slice(start, start + lookupBatch);
    const hashes = batch.flatMap((item) => item.attempts.map((attempt) => attempt.txHash));
    // The head comes from the same node as the receipts: only one that is as far as we are may say "in no block".
    const [head, ...outcomes] = await rpc.batch([calls.block('latest'), ...hashes.map(calls.receipt)]);
    const isLevel = (parseHeader(resultOf(head))?.number ?? -1n) >= followed.cursor.headNumber;
    const receipts = hashes.flatMap(
      (hash, index) => checkReceipt(hash, parseReceipt(resultOf(outcomes[index]))) ?? [],
    );
    const times = await canonicalTimes(context, rpc, followed, receipts);
    for (const item of batch) {
      const found = receipts.filter(({ transactionHash }) =>
        item.attempts.some((attempt) => attempt.txHash === transactionHash),
      );
      standings.set(item.transactionId, standingOf(found, times, isLevel));
    }
  }
  return standings;
}

/** Times of those blocks of receipts that are in the stored chain, by block hash. */
async function canonicalTimes(
  context: SenderContext,
  rpc: Rpc,
  { chain, cursor }: { readonly chain: Chain; readonly cursor: ChainCursor },
  receipts: readonly Receipt[],
): Promise<ReadonlyMap<string, Date>> {
  const numbers = [...new Set(receipts.map((receipt) => receipt.blockNumber))];
  const rows = numbers.length === 0 ? [] : await context.db.query(blocksAt, [chain.chainId, numbers]);
  const times = new Map(rows.map((row) => [row.block_hash, row.block_time]));
  const stored = new Set(rows.map((row) => row.block_number));
  // Mined long ago, while nobody looked: our own copies of the blocks are pruned.
  const pruned = numbers.filter((number) => !stored.has(number) && number <= cursor.finalNumber - keptBlocks);
  for (const number of pruned) {
    const block = await getBlock(rpc, number);
    if (block !== undefined) times.set(block.hash, block.time);
  }
  return times;
}

function standingOf(
  receipts: readonly Receipt[],
  times: ReadonlyMap<string, Date>,
  isLevel: boolean,
): Standing {
  for (const receipt of receipts) {
    const blockTime = times.get(receipt.blockHash);
    if (blockTime !== undefined) return { kind: 'mined', receipt, blockTime };
  }
  return { kind: receipts.length === 0 && isLevel ? 'unmined' : 'unclear' };
}

/** Stores that a transaction is in a block; its outcome when the block is final. */
export async function noteMined(
  context: SenderContext,
  cursor: ChainCursor,
  pending: PendingTransaction,
  standing: Standing & { kind: 'mined' },
): Promise<void> {
  const { receipt, blockTime } = standing;
  const { transactionHash: txHash, blockNumber } = receipt;
  if (blockNumber > cursor.finalNumber) {
    if (pending.minedHash === txHash) return;
    await context.db.query(setMined, [pending.transactionId, txHash, blockNumber, context.clock.now()]);
    return;
  }
  const status = receipt.succeeded ? 'succeeded' : 'failed';
  const conclusion = { status, txHash, blockNumber, blockTime } as const;
  const told = { at: context.clock.now(), onOutcome: context.onOutcome };
  await context.db.transaction((transaction) => conclude(transaction, pending, conclusion, told));
  if (!receipt.succeeded) {
    context.log.warn('sender.failed', { chainId: pending.chainId, purpose: pending.purpose, txHash });
  }
}

/** Takes back that a transaction was in a block: it was reorged out. */
export async function noteUnmined(context: SenderContext, pending: PendingTransaction): Promise<void> {
  if (pending.minedHash === '') return;
  await context.db.query(setMined, [pending.transactionId, '', null, context.clock.now()]);
  context.log.warn('sender.reorged_out', { chainId: pending.chainId, txHash: pending.minedHash });
}
