import type { Queryable, Transaction } from '@florin/pg';
import { keccakHex } from '@florin/signing';
import type { Hex } from 'viem';
import type { Fees } from './fees.ts';
import {
  type AttemptRow,
  attemptsOf,
  insertAttempt,
  insertTransactions,
  lockOutcomes,
  lockPending,
  lockPendingOfIds,
  pendingTransaction,
  pendingTransactions,
  reopenOutcomes,
  reserveNonces,
  setOutcomes,
  type TransactionRow,
} from './sender.sql.ts';
import { fillPurpose, type OutcomeHandler, type RecordedTransaction, type SentOutcome } from './sent.ts';
import type { NumberedPlan } from './signing-queue.ts';
import type { UnsignedTransaction, WalletSigner } from './wallet.ts';

/** One signed form of a transaction. Replacements share its nonce and differ in fees. */
export interface Attempt extends Fees {
  readonly txHash: Hex;
  readonly raw: Hex;
  readonly createdAt: Date;
  /** Why every node refused it when it was last broadcast; empty while a node has it, and before the first time. */
  readonly refusal: string;
  /** Whether blocks ask for more than it offers while the limit allows no higher fee. */
  readonly isCapped: boolean;
}

/** A stored transaction whose outcome is not final. */
export interface PendingTransaction {
  readonly transactionId: bigint;
  readonly chainId: number;
  readonly nonce: bigint;
  readonly purpose: string;
  readonly to: Hex;
  readonly data: Hex;
  readonly gasLimit: bigint;
  /** The hash of the attempt last seen in a block of the stored chain; empty while there is none. */
  readonly minedHash: string;
  /** Oldest first: the last one offers most. */
  readonly attempts: readonly Attempt[];
}

function parseAttempt(row: AttemptRow): Attempt {
  return {
    txHash: row.tx_hash as Hex,
    raw: row.raw as Hex,
    maxFee: row.max_fee,
    priorityFee: row.priority_fee,
    createdAt: row.created_at,
    refusal: row.refusal,
    isCapped: row.is_capped,
  };
}

function parsePending(row: TransactionRow, attempts: readonly AttemptRow[] = []): PendingTransaction {
  return {
    transactionId: row.transaction_id,
    chainId: Number(row.chain_id),
    nonce: row.nonce,
    purpose: row.purpose,
    to: row.recipient as Hex,
    data: row.call_data as Hex,
    gasLimit: row.gas_limit,
    minedHash: row.mined_hash,
    attempts: attempts.map(parseAttempt),
  };
}

/** The latest attempt. Every stored transaction has one. */
export function newestAttempt(pending: PendingTransaction): Attempt {
  const attempt = pending.attempts.at(-1);
  if (attempt === undefined) throw new Error(`transaction ${pending.transactionId} has no attempt`);
  return attempt;
}

/** The wallet's pending transactions of a chain by nonce, at most `limit`. */
export async function findPending(
  queryable: Queryable,
  key: { chainId: number; wallet: Hex; limit: number },
): Promise<readonly PendingTransaction[]> {
  const rows = await queryable.query(pendingTransactions, {
    chainId: key.chainId,
    wallet: key.wallet.toLowerCase(),
    limit: key.limit,
  });
  if (rows.length === 0) return [];
  const attempts = await queryable.query(attemptsOf, {
    transactionIds: rows.map((row) => row.transaction_id),
  });
  const byTransaction = Map.groupBy(attempts, (attempt) => attempt.transaction_id);
  return rows.map((row) => parsePending(row, byTransaction.get(row.transaction_id)));
}

/** A pending transaction by id; undefined once its outcome is stored. */
export async function findPendingById(
  queryable: Queryable,
  transactionId: bigint,
): Promise<PendingTransaction | undefined> {
  const [row] = await queryable.query(pendingTransaction, { transactionId });
  return row === undefined
    ? undefined
    : parsePending(row, await queryable.query(attemptsOf, { transactionIds: [transactionId] }));
}

/** The same with a lock until the transaction ends. */
export async function lockPendingById(
  transaction: Transaction,
  transactionId: bigint,
): Promise<PendingTransaction | undefined> {
  const [row] = await transaction.query(lockPending, { transactionId });
  return row === undefined
    ? undefined
    : parsePending(row, await transaction.query(attemptsOf, { transactionIds: [transactionId] }));
}

/**
 * Takes the wallet's next `count` nonces, none below the floor, and returns the first. Other callers wait until the
 * transaction ends.
 */
export async function allocateNonces(
  transaction: Transaction,
  key: { chainId: number; wallet: Hex; floor: bigint; count: number },
): Promise<bigint> {
  const { chainId, wallet, floor, count } = key;
  const [row] = await transaction.query(reserveNonces, {
    chainId,
    wallet: wallet.toLowerCase(),
    floor,
    count,
  });
  if (row === undefined) throw new Error('no nonce was assigned');
  return row.nonce;
}

/**
 * Stores signed transactions of one chain and wallet at their nonces, in order. The result is undefined for those
 * whose nonce already has a row.
 */
export async function storeTransactions(
  transaction: Transaction,
  placed: readonly NumberedPlan[],
  raws: readonly Hex[],
  at: Date,
): Promise<readonly (RecordedTransaction | undefined)[]> {
  const [first] = placed;
  if (first === undefined) return [];
  const { chainId, wallet } = first.plan;
  const hashes = raws.map(hashOf);
  const plans = placed.map(({ plan }) => plan);
  const rows = await transaction.query(insertTransactions, {
    chainId,
    wallet: wallet.toLowerCase(),
    createdAt: at,
    nonces: placed.map(({ nonce }) => nonce),
    purposes: plans.map(({ purpose }) => purpose),
    recipients: plans.map(({ to }) => to),
    callData: plans.map(({ data }) => data),
    gasLimits: plans.map(({ gasLimit }) => gasLimit),
    txHashes: hashes,
    raws,
    maxFees: plans.map(({ maxFee }) => maxFee),
    priorityFees: plans.map(({ priorityFee }) => priorityFee),
  });
  const ids = new Map(rows.map((row) => [row.tx_hash, row.transaction_id]));
  return hashes.map((txHash) => {
    const transactionId = ids.get(txHash);
    return transactionId === undefined ? undefined : { transactionId, txHash };
  });
}

function hashOf(raw: Hex): Hex {
  return keccakHex(Buffer.from(raw.slice(2), 'hex'));
}

/** Signs and stores another attempt of a transaction. */
export async function storeAttempt(
  transaction: Transaction,
  wallet: WalletSigner,
  transactionId: bigint,
  unsigned: UnsignedTransaction,
  at: Date,
): Promise<Hex> {
  const raw = await wallet.signTransaction(unsigned);
  const txHash = hashOf(raw);
  const { maxFee, priorityFee } = unsigned;
  await transaction.query(insertAttempt, { transactionId, txHash, raw, maxFee, priorityFee, createdAt: at });
  return txHash;
}

/** The block in which an outcome was seen. */
export interface SeenOutcome {
  readonly status: SentOutcome['status'];
  readonly txHash: Hex;
  readonly blockNumber: bigint | undefined;
  readonly blockTime: Date | undefined;
}

/** A transaction and its outcome. */
export interface FinishedTransaction {
  readonly pending: PendingTransaction;
  readonly outcome: SeenOutcome;
}

/** How outcomes are stored and reported. */
export interface OutcomeReport {
  readonly at: Date;
  readonly onOutcome: OutcomeHandler;
  /** From the cursor that makes the outcomes final. If blocks have been reverted since, nothing is stored. */
  readonly rewinds: bigint;
}

/** Stores outcomes and reports each to its handler, once, in order. Returns the number of stored outcomes. */
export async function finishTransactions(
  transaction: Transaction,
  finished: readonly FinishedTransaction[],
  report: OutcomeReport,
): Promise<number> {
  const outcomes = finished.map(({ outcome }) => outcome);
  const ids = finished.map(({ pending }) => pending.transactionId);
  const locked = transaction.query(lockPendingOfIds, { transactionIds: ids });
  const stored = transaction.query(setOutcomes, {
    transactionIds: ids,
    statuses: outcomes.map(({ status }) => status),
    minedHashes: outcomes.map(({ txHash, blockNumber }) => (blockNumber === undefined ? '' : txHash)),
    minedBlocks: outcomes.map(({ blockNumber }) => blockNumber ?? null),
    updatedAt: report.at,
    rewinds: report.rewinds,
  });
  const [, rows] = await Promise.all([locked, stored]);
  // Another process has stored and reported the rest.
  const ours = new Set(rows.map((row) => row.transaction_id));
  for (const { pending, outcome } of finished) {
    const { transactionId, chainId, purpose } = pending;
    if (purpose === fillPurpose || !ours.has(transactionId)) continue;
    const { status, txHash, blockTime } = outcome;
    await report.onOutcome(transaction, { transactionId, chainId, purpose, status, txHash, blockTime });
  }
  return ours.size;
}

/**
 * Makes transactions pending again whose blocks above `above` are reverted. They are looked up in other blocks, and
 * broadcast again where they are in none. Otherwise their nonces would hold up the wallet's later transactions for
 * ever. Returns their ids. Their handlers get the outcome a second time.
 */
export async function revertOutcomes(
  transaction: Transaction,
  taken: { readonly chainId: number; readonly above: bigint; readonly at: Date },
): Promise<readonly bigint[]> {
  const { chainId, above, at } = taken;
  const locked = transaction.query(lockOutcomes, { chainId, above });
  const reopened = transaction.query(reopenOutcomes, { chainId, above, updatedAt: at });
  const [, rows] = await Promise.all([locked, reopened]);
  return rows.map((row) => row.transaction_id);
}
