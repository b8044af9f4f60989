import type { Queryable, Transaction } from '@florin/pg';
import { assetSums, balances, insertEntry } from './entry.sql.ts';

/**
 * What an entry books. Those up to reclaim are about an order; the others about what comes and goes beside orders. opening:
 * what stood there when a token's books were opened.
 */
export type EntryKind =
  | 'payment'
  | 'settlement'
  | 'payout'
  | 'mint'
  | 'refund'
  | 'reclaim'
  | 'settlement_refund'
  | 'rescue'
  | 'tolerance'
  | 'fee_withdrawal'
  | 'float_deposit'
  | 'float_withdrawal'
  | 'unmatched'
  | 'opening';

/** One side of an entry. Debits are positive, credits negative, in smallest units of the asset. */
export interface Posting {
  /** Where the money is (`gateway:<chain>`, `vault:<chain>`) or whose it is (`merchant:<channelId>`, `fees`, `float`). */
  readonly account: string;
  /** A tokenId. */
  readonly asset: string;
  readonly amount: bigint;
}

export interface Entry {
  readonly kind: EntryKind;
  /** Empty when it is about no order. */
  readonly orderId: string;
  /** What tells it from other entries of its kind and chain, when that is not the order. */
  readonly fact?: string;
  readonly chainId: number;
  readonly txHash: string;
  readonly at: Date;
  readonly postings: readonly Posting[];
}

/**
 * Books one on-chain fact in double entry, exactly once per kind and order (or `fact`). False when it stands already. Postings of
 * zero are left out. PostgreSQL refuses, at commit, an entry whose postings do not sum to zero per asset.
 */
export async function book(transaction: Transaction, entry: Entry): Promise<boolean> {
  const postings = entry.postings.filter((posting) => posting.amount !== 0n);
  const rows = await transaction.query(insertEntry, {
    entryKey: `${entry.kind}:${entry.chainId}:${entry.fact ?? entry.orderId}`,
    kind: entry.kind,
    orderId: entry.orderId,
    chainId: entry.chainId,
    txHash: entry.txHash,
    createdAt: entry.at,
    ledgerAccounts: postings.map((posting) => posting.account),
    assets: postings.map((posting) => posting.asset),
    amounts: postings.map((posting) => posting.amount),
  });
  return rows.length === 1;
}

/** The balance of every ledger account and asset that is not zero. */
export async function ledgerBalances(
  queryable: Queryable,
): Promise<{ account: string; asset: string; balance: bigint }[]> {
  const rows = await queryable.query(balances);
  return rows.map((row) => ({ account: row.ledger_account, asset: row.asset, balance: row.balance }));
}

/** The sum of all postings per asset: zero for each, or the books are broken. */
export async function ledgerSums(queryable: Queryable): Promise<{ asset: string; total: bigint }[]> {
  return queryable.query(assetSums);
}
