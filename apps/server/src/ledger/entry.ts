import type { Queryable, Transaction } from '@florin/pg';
import { assetSums, balances, insertEntry } from './entry.sql.ts';

/**
 * The kind of fact that an entry books. Kinds up to `fee_accrual` are about an order, the others may be about none. opening:
 * the balance on chain when a token's books began.
 */
export type EntryKind =
  | 'payment'
  | 'settlement'
  | 'payout'
  | 'mint'
  | 'refund'
  | 'reclaim'
  | 'fee_accrual'
  | 'settlement_refund'
  | 'rescue'
  | 'tolerance'
  | 'fee_withdrawal'
  | 'float_deposit'
  | 'float_withdrawal'
  | 'unmatched'
  | 'opening';

/** One side of an entry. Debits are positive and credits negative, in smallest units of the asset. */
export interface Posting {
  /** The holder (`gateway:<chain>`, `vault:<chain>`) or the owner (`merchant:<channelId>`, `fees`, `float`) of the money. */
  readonly account: string;
  /** A tokenId. */
  readonly asset: string;
  readonly amount: bigint;
}

export interface Entry {
  readonly kind: EntryKind;
  /** Empty when the entry is about no order. */
  readonly orderId: string;
  /** Distinguishes the entry from others of its kind and chain; the order's id when absent. */
  readonly fact?: string;
  readonly chainId: number;
  readonly txHash: string;
  readonly at: Date;
  readonly postings: readonly Posting[];
}

/**
 * Books one on-chain fact in double entry, exactly once per kind, chain and order (or `fact`). False when it was booked
 * before. Omits postings of zero. PostgreSQL refuses to commit an entry whose postings do not sum to zero per asset.
 */
export async function book(transaction: Transaction, entry: Entry): Promise<boolean> {
  const postings = entry.postings.filter((posting) => posting.amount !== 0n);
  const rows = await transaction.query(insertEntry, {
    ...entry,
    entryKey: `${entry.kind}:${entry.chainId}:${entry.fact ?? entry.orderId}`,
    createdAt: entry.at,
    ledgerAccounts: postings.map((posting) => posting.account),
    assets: postings.map((posting) => posting.asset),
    amounts: postings.map((posting) => posting.amount),
  });
  return rows.length === 1;
}

/** Every balance that is not zero, by ledger account and asset. */
export async function ledgerBalances(
  queryable: Queryable,
): Promise<{ account: string; asset: string; balance: bigint }[]> {
  const rows = await queryable.query(balances);
  return rows.map((row) => ({ account: row.ledger_account, asset: row.asset, balance: row.balance }));
}

/** The sum of all postings per asset. Each must be zero. */
export async function ledgerSums(queryable: Queryable): Promise<{ asset: string; total: bigint }[]> {
  return queryable.query(assetSums);
}
