import type { Hex } from 'viem';
import {
  calls,
  checkTransactionReceipt,
  getBlock,
  parseHeader,
  parseTransactionReceipt,
  type TransactionReceipt,
} from '../nodes/actions.ts';
import { type Rpc, resultOf } from '../nodes/rpc.ts';
import type { FollowedChain } from '../watcher/chain.ts';
import { retainedBlocks } from '../watcher/chain-move.ts';
import type { ChainCursor } from '../watcher/cursor.ts';
import { readAhead } from '../watcher/read-ahead.ts';
import { blocksAt } from '../watcher/watcher.sql.ts';
import type { SenderContext } from './context.ts';
import { setMined } from './sender.sql.ts';
import { outcomeOf } from './sent.machine.ts';
import { finishTransactions, type PendingTransaction, type SeenOutcome } from './store.ts';

/** The location of a pending transaction on the chain. */
export type Location =
  /** In a block of the stored chain. */
  | { readonly kind: 'mined'; readonly receipt: TransactionReceipt; readonly blockTime: Date }
  /** In no block, according to a node that is not behind us. */
  | { readonly kind: 'unmined' }
  /** In a block that we do not have yet, or the node is behind: check again later. */
  | { readonly kind: 'unclear' };

/** Transactions whose receipts are fetched together; each may have several attempts. */
const lookupBatch = 100;
/** The most lookup requests in flight. */
const lookupsAtOnce = 2;
/** The most outcomes stored in one transaction, because their handlers add work to it. */
const finishedAtOnce = 50;

/** Looks up all attempts of pending transactions by id. */
export async function locate(
  context: SenderContext,
  rpc: Rpc,
  followed: { readonly chain: FollowedChain; readonly cursor: ChainCursor },
  pending: readonly PendingTransaction[],
): Promise<ReadonlyMap<bigint, Location>> {
  const locations = new Map<bigint, Location>();
  const batches: (readonly PendingTransaction[])[] = [];
  for (let start = 0; start < pending.length; start += lookupBatch)
    batches.push(pending.slice(start, start + lookupBatch));
  const look = (batch: readonly PendingTransaction[]) => lookUp(context, rpc, followed, batch);
  await readAhead(batches, lookupsAtOnce, look, async (found) => {
    for (const [id, location] of found) locations.set(id, location);
  });
  return locations;
}

async function lookUp(
  context: SenderContext,
  rpc: Rpc,
  followed: { readonly chain: FollowedChain; readonly cursor: ChainCursor },
  batch: readonly PendingTransaction[],
): Promise<readonly (readonly [bigint, Location])[]> {
  const hashes = batch.flatMap((item) => item.attempts.map((attempt) => attempt.txHash));
  // The head comes from the same node as the receipts. Only a node that is not behind us may report "in no block".
  const [head, ...outcomes] = await rpc.batch([calls.block('latest'), ...hashes.map(calls.receipt)]);
  const isLevel = (parseHeader(resultOf(head))?.number ?? -1n) >= followed.cursor.headNumber;
  const receipts = new Map<Hex, TransactionReceipt>();
  for (const [index, hash] of hashes.entries()) {
    const receipt = checkTransactionReceipt(hash, parseTransactionReceipt(resultOf(outcomes[index])));
    if (receipt !== undefined) receipts.set(hash, receipt);
  }
  const times = await canonicalTimes(context, rpc, followed, [...receipts.values()]);
  return batch.map((item) => {
    const found = item.attempts.flatMap(({ txHash }) => receipts.get(txHash) ?? []);
    return [item.transactionId, locationOf(found, times, isLevel)] as const;
  });
}

/** Times of those blocks of receipts that are in the stored chain, by block hash. */
async function canonicalTimes(
  context: SenderContext,
  rpc: Rpc,
  { chain, cursor }: { readonly chain: FollowedChain; readonly cursor: ChainCursor },
  receipts: readonly TransactionReceipt[],
): Promise<ReadonlyMap<string, Date>> {
  const numbers = [...new Set(receipts.map((receipt) => receipt.blockNumber))];
  const rows =
    numbers.length === 0
      ? []
      : await context.db.query(blocksAt, { chainId: chain.chainId, blockNumbers: numbers });
  const times = new Map(rows.map((row) => [row.block_hash, row.block_time]));
  const stored = new Set(rows.map((row) => row.block_number));
  // These were mined long ago, while no sender ran: our own copies of the blocks are pruned.
  const pruned = numbers.filter(
    (number) => !stored.has(number) && number <= cursor.finalNumber - retainedBlocks,
  );
  for (const number of pruned) {
    const block = await getBlock(rpc, number);
    if (block !== undefined) times.set(block.hash, block.time);
  }
  return times;
}

function locationOf(
  receipts: readonly TransactionReceipt[],
  times: ReadonlyMap<string, Date>,
  isLevel: boolean,
): Location {
  for (const receipt of receipts) {
    const blockTime = times.get(receipt.blockHash);
    if (blockTime !== undefined) return { kind: 'mined', receipt, blockTime };
  }
  return { kind: receipts.length === 0 && isLevel ? 'unmined' : 'unclear' };
}

/** A transaction and the block of the stored chain that it is in. */
export interface Mined {
  readonly pending: PendingTransaction;
  readonly location: Location & { kind: 'mined' };
}

/** Stores the blocks of mined transactions, and the outcomes of those in final blocks. */
export async function noteMined(
  context: SenderContext,
  cursor: ChainCursor,
  mined: readonly Mined[],
): Promise<void> {
  const isFinal = ({ location }: Mined) => location.receipt.blockNumber <= cursor.finalNumber;
  const changed = mined.filter(
    (item) => !isFinal(item) && item.pending.minedHash !== item.location.receipt.transactionHash,
  );
  if (changed.length > 0) {
    await context.db.query(setMined, {
      transactionIds: changed.map(({ pending }) => pending.transactionId),
      minedHashes: changed.map(({ location }) => location.receipt.transactionHash),
      minedBlocks: changed.map(({ location }) => location.receipt.blockNumber),
      updatedAt: context.clock.now(),
    });
  }
  const final = mined.filter(isFinal);
  for (let start = 0; start < final.length; start += finishedAtOnce)
    await finishTogether(context, cursor, final.slice(start, start + finishedAtOnce));
}

/** One transaction for all, because separate commits would take most of the time. A failing handler delays no other. */
async function finishTogether(
  context: SenderContext,
  cursor: ChainCursor,
  mined: readonly Mined[],
): Promise<void> {
  const report = { at: context.clock.now(), onOutcome: context.onOutcome, rewinds: cursor.rewinds };
  try {
    const finished = mined.map(({ pending, location }) => ({ pending, outcome: seenOutcomeOf(location) }));
    await context.db.transaction((transaction) => finishTransactions(transaction, finished, report));
  } catch (error) {
    if (mined.length === 1) throw error;
    const failures: unknown[] = [];
    for (const item of mined) {
      await finishTogether(context, cursor, [item]).catch((reason: unknown) => failures.push(reason));
    }
    if (failures.length > 0) throw failures[0];
    return;
  }
  for (const { pending, location } of mined) {
    const { succeeded, transactionHash: txHash } = location.receipt;
    const { chainId, purpose } = pending;
    if (!succeeded) context.log.warn('sender.failed', { chainId, purpose, txHash });
  }
}

function seenOutcomeOf({ receipt, blockTime }: Mined['location']): SeenOutcome {
  const { transactionHash: txHash, blockNumber, succeeded } = receipt;
  return {
    status: outcomeOf(succeeded ? 'execution_succeeded' : 'execution_reverted'),
    txHash,
    blockNumber,
    blockTime,
  };
}

/** Records that a transaction was reorged out of its block. */
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
