import type { Hex } from '@florin/protocol/order.ts';
import { keccak256 } from 'viem';
import type { Queryable, Transaction } from '#db/database.ts';
import type { Fees } from './fees.ts';
import {
  type AttemptRow,
  attemptsOf,
  insertAttempt,
  insertTransaction,
  lockPending,
  pendingTransaction,
  pendingTransactions,
  setOutcome,
  type TransactionRow,
  takeNonce,
} from './sender.sql.ts';
import type { OutcomeHandler, RecordedTransaction, SendPlan, SendPurpose, SentOutcome } from './sent.ts';
import type { UnsignedTransaction, WalletSigner } from './wallet.ts';

/** One signed form of a transaction; replacements share its nonce and differ in fees. */
export interface Attempt extends Fees {
  readonly txHash: Hex;
  readonly raw: Hex;
  readonly createdAt: Date;
}

/** A stored transaction whose outcome is not final. */
export interface PendingTransaction {
  readonly transactionId: bigint;
  readonly chainId: number;
  readonly nonce: bigint;
  readonly purpose: SendPurpose;
  readonly to: Hex;
  readonly data: Hex;
  readonly gasLimit: bigint;
  /** The attempt last seen in a block of the stored chain; empty while there is none. */
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
  };
}

function parsePending(row: TransactionRow, attempts: readonly AttemptRow[]): PendingTransaction {
  return {
    transactionId: row.transaction_id,
    chainId: Number(row.chain_id),
    nonce: row.nonce,
    purpose: row.purpose as SendPurpose,
    to: row.recipient as Hex,
    data: row.call_data as Hex,
    gasLimit: row.gas_limit,
    minedHash: row.mined_hash,
    attempts: attempts.filter((attempt) => attempt.transaction_id === row.transaction_id).map(parseAttempt),
  };
}

/** The latest attempt; every stored transaction has one. */
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
  const rows = await queryable.query(pendingTransactions, [key.chainId, key.wallet.toLowerCase(), key.limit]);
  if (rows.length === 0) return [];
  const attempts = await queryable.query(attemptsOf, [rows.map((row) => row.transaction_id)]);
  return rows.map((row) => parsePending(row, attempts));
}

/** A pending transaction by id; undefined once its outcome is stored. */
export async function findPendingById(
  queryable: Queryable,
  transactionId: bigint,
): Promise<PendingTransaction | undefined> {
  const [row] = await queryable.query(pendingTransaction, [transactionId]);
  return row === undefined
    ? undefined
    : parsePending(row, await queryable.query(attemptsOf, [[transactionId]]));
}

/** The same, locked until the transaction ends. */
export async function lockPendingById(
  transaction: Transaction,
  transactionId: bigint,
): Promise<PendingTransaction | undefined> {
  const [row] = await transaction.query(lockPending, [transactionId]);
  return row === undefined
    ? undefined
    : parsePending(row, await transaction.query(attemptsOf, [[transactionId]]));
}

/** Gives out the wallet's next nonce, never below the floor. Others wait until the transaction ends. */
export async function allocateNonce(
  transaction: Transaction,
  key: { chainId: number; wallet: Hex; floor: bigint },
): Promise<bigint> {
  const [row] = await transaction.query(takeNonce, [key.chainId, key.wallet.toLowerCase(), key.floor]);
  if (row === undefined) throw new Error('no nonce was given out');
  return row.nonce;
}

/** Signs and stores a transaction at this nonce; undefined when the nonce has a row already. */
export async function storeTransaction(
  transaction: Transaction,
  wallet: WalletSigner,
  plan: SendPlan,
  placed: { nonce: bigint; at: Date },
): Promise<RecordedTransaction | undefined> {
  const raw = await wallet.signTransaction({ ...plan, nonce: placed.nonce });
  const txHash = keccak256(raw);
  const [row] = await transaction.query(insertTransaction, [
    ...[plan.chainId, wallet.address.toLowerCase(), placed.nonce, plan.purpose, plan.to, plan.data],
    ...[plan.gasLimit, placed.at, txHash, raw, plan.maxFee, plan.priorityFee],
  ]);
  return row === undefined ? undefined : { transactionId: row.transaction_id, txHash };
}

/** Signs and stores one more form of a transaction. */
export async function storeAttempt(
  transaction: Transaction,
  wallet: WalletSigner,
  transactionId: bigint,
  unsigned: UnsignedTransaction,
  at: Date,
): Promise<Hex> {
  const raw = await wallet.signTransaction(unsigned);
  const txHash = keccak256(raw);
  const { maxFee, priorityFee } = unsigned;
  await transaction.query(insertAttempt, [transactionId, txHash, raw, maxFee, priorityFee, at]);
  return txHash;
}

/** Where an outcome was seen. */
export interface Conclusion {
  readonly status: SentOutcome['status'];
  readonly txHash: Hex;
  readonly blockNumber: bigint | undefined;
  readonly blockTime: Date | undefined;
}

/** Stores what became of a transaction and tells its owner, once. */
export async function conclude(
  transaction: Transaction,
  pending: PendingTransaction,
  conclusion: Conclusion,
  told: { at: Date; onOutcome: OutcomeHandler },
): Promise<void> {
  const { transactionId, chainId, purpose } = pending;
  const locked = await transaction.query(lockPending, [transactionId]);
  if (locked.length === 0) return;
  const { status, txHash, blockNumber, blockTime } = conclusion;
  const minedHash = blockNumber === undefined ? '' : txHash;
  await transaction.query(setOutcome, [transactionId, status, minedHash, blockNumber ?? null, told.at]);
  if (purpose === 'fill') return;
  await told.onOutcome(transaction, { transactionId, chainId, purpose, status, txHash, blockTime });
}
