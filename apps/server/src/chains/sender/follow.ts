import {
  calls,
  checkReceipt,
  getBlock,
  parseHeader,
  parseReceipt,
  type Receipt,
  type Rpc,
  resultOf,
} from '@florin/evm';
import type { Hex } from '@florin/protocol/order.ts';
import type { Chain } from '../chain.ts';
import { keptBlocks } from '../watcher/chain-move.ts';
import type { ChainCursor } from '../watcher/cursor.ts';
import { readAhead } from '../watcher/read-ahead.ts';
import { blocksAt } from '../watcher/watcher.sql.ts';
import type { SenderContext } from './context.ts';
import { setMined } from './sender.sql.ts';
import { outcomeOf } from './sent.machine.ts';
import { type Conclusion, conclude, type PendingTransaction } from './store.ts';

/** Where a pending transaction stands on the chain. */
export type Standing =
  /** In a block of the stored chain. */
  | { readonly kind: 'mined'; readonly receipt: Receipt; readonly blockTime: Date }
  /** In no block, says a node that is as far as we are. */
  | { readonly kind: 'unmined' }
  /** In a block that we do not have (yet), or the node is behind: look again later. */
  | { readonly kind: 'unclear' };

/** Transactions whose receipts are asked for together; each may have several attempts. */
const lookupBatch = 100;
/** Such questions under way at once. */
const lookupsAtOnce = 2;
/** Outcomes stored in one transaction: owners do work of their own in it. */
const concludedAtOnce = 50;

/** Looks up all attempts of pending transactions, by id. */
export async function findStandings(
  context: SenderContext,
  rpc: Rpc,
  followed: { readonly chain: Chain; readonly cursor: ChainCursor },
  pending: readonly PendingTransaction[],
): Promise<ReadonlyMap<bigint, Standing>> {
  const standings = new Map<bigint, Standing>();
  const batches: (readonly PendingTransaction[])[] = [];
  for (let start = 0; start < pending.length; start += lookupBatch)
    batches.push(pending.slice(start, start + lookupBatch));
  const look = (batch: readonly PendingTransaction[]) => lookUp(context, rpc, followed, batch);
  await readAhead(batches, lookupsAtOnce, look, async (found) => {
    for (const [id, standing] of found) standings.set(id, standing);
  });
  return standings;
}

async function lookUp(
  context: SenderContext,
  rpc: Rpc,
  followed: { readonly chain: Chain; readonly cursor: ChainCursor },
  batch: readonly PendingTransaction[],
): Promise<readonly (readonly [bigint, Standing])[]> {
  const hashes = batch.flatMap((item) => item.attempts.map((attempt) => attempt.txHash));
  // The head comes from the same node as the receipts: only one that is as far as we are may say "in no block".
  const [head, ...outcomes] = await rpc.batch([calls.block('latest'), ...hashes.map(calls.receipt)]);
  const isLevel = (parseHeader(resultOf(head))?.number ?? -1n) >= followed.cursor.headNumber;
  const receipts = new Map<Hex, Receipt>();
  for (const [index, hash] of hashes.entries()) {
    const receipt = checkReceipt(hash, parseReceipt(resultOf(outcomes[index])));
    if (receipt !== undefined) receipts.set(hash, receipt);
  }
  const times = await canonicalTimes(context, rpc, followed, [...receipts.values()]);
  return batch.map((item) => {
    const found = item.attempts.flatMap(({ txHash }) => receipts.get(txHash) ?? []);
    return [item.transactionId, standingOf(found, times, isLevel)] as const;
  });
}

/** Times of those blocks of receipts that are in the stored chain, by block hash. */
async function canonicalTimes(
  context: SenderContext,
  rpc: Rpc,
  { chain, cursor }: { readonly chain: Chain; readonly cursor: ChainCursor },
  receipts: readonly Receipt[],
): Promise<ReadonlyMap<string, Date>> {
  const numbers = [...new Set(receipts.map((receipt) => receipt.blockNumber))];
  const rows =
    numbers.length === 0
      ? []
      : await context.db.query(blocksAt, { chainId: chain.chainId, blockNumbers: numbers });
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

/** A transaction and the block of the stored chain that it is in. */
export interface Mined {
  readonly pending: PendingTransaction;
  readonly standing: Standing & { kind: 'mined' };
}

/** Stores that transactions are in blocks; their outcomes where the blocks are final. */
export async function noteMined(
  context: SenderContext,
  cursor: ChainCursor,
  mined: readonly Mined[],
): Promise<void> {
  const isFinal = ({ standing }: Mined) => standing.receipt.blockNumber <= cursor.finalNumber;
  const changed = mined.filter(
    (item) => !isFinal(item) && item.pending.minedHash !== item.standing.receipt.transactionHash,
  );
  if (changed.length > 0) {
    await context.db.query(setMined, {
      transactionIds: changed.map(({ pending }) => pending.transactionId),
      minedHashes: changed.map(({ standing }) => standing.receipt.transactionHash),
      minedBlocks: changed.map(({ standing }) => standing.receipt.blockNumber),
      updatedAt: context.clock.now(),
    });
  }
  const final = mined.filter(isFinal);
  for (let start = 0; start < final.length; start += concludedAtOnce)
    await concludeTogether(context, cursor, final.slice(start, start + concludedAtOnce));
}

/** In one transaction: a commit each would cost most of the time. One whose owner fails must not hold up the others. */
async function concludeTogether(
  context: SenderContext,
  cursor: ChainCursor,
  mined: readonly Mined[],
): Promise<void> {
  const told = { at: context.clock.now(), onOutcome: context.onOutcome, rewinds: cursor.rewinds };
  try {
    const concluded = mined.map(({ pending, standing }) => ({ pending, conclusion: conclusionOf(standing) }));
    await context.db.transaction((transaction) => conclude(transaction, concluded, told));
  } catch (error) {
    if (mined.length === 1) throw error;
    const failures: unknown[] = [];
    for (const item of mined) {
      await concludeTogether(context, cursor, [item]).catch((reason: unknown) => failures.push(reason));
    }
    if (failures.length > 0) throw failures[0];
    return;
  }
  for (const { pending, standing } of mined) {
    const { succeeded, transactionHash: txHash } = standing.receipt;
    const { chainId, purpose } = pending;
    if (!succeeded) context.log.warn('sender.failed', { chainId, purpose, txHash });
  }
}

function conclusionOf({ receipt, blockTime }: Mined['standing']): Conclusion {
  const { transactionHash: txHash, blockNumber, succeeded } = receipt;
  return {
    status: outcomeOf(succeeded ? 'execution_succeeded' : 'execution_reverted'),
    txHash,
    blockNumber,
    blockTime,
  };
}

/** Takes back that a transaction was in a block: it was reorged out. */
export async function noteUnmined(context: SenderContext, pending: PendingTransaction): Promise<void> {
  if (pending.minedHash === '') return;
  await context.db.query(setMined, {
    transactionIds: [pending.transactionId],
    minedHashes: [''],
    minedBlocks: [null],
    updatedAt: context.clock.now(),
  });
  context.log.warn('sender.reorged_out', { chainId: pending.chainId, txHash: pending.minedHash });
}
