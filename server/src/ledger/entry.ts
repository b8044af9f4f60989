import type { Queryable, Transaction } from '#db/database.ts';
import { assetSums, balances, insertEntry } from './entry.sql.ts';

/** What an entry books. */
export type EntryKind = 'payment' | 'settlement' | 'payout' | 'refund' | 'reclaim';

/** One side of an entry. Debits are positive, credits negative, in smallest units of the asset. */
export interface Posting {
  /** Where the money is (`gateway:<chain>`, `vault:<chain>`) or whose it is (`merchant:<accountId>`, `fees`, `float`). */
  readonly account: string;
  /** A tokenId. */
  readonly asset: string;
  readonly amount: bigint;
}

export interface Entry {
  readonly kind: EntryKind;
  readonly orderId: string;
  readonly chainId: number;
  readonly txHash: string;
  readonly at: Date;
  readonly postings: readonly Posting[];
}

/**
 * Books one on-chain fact in double entry, exactly once per kind and order. False when it stands already. Postings of
 * zero are left out. PostgreSQL refuses, at commit, an entry whose postings do not sum to zero per asset.
 */
export async function book(transaction: Transaction, entry: Entry): Promise<boolean> {
  const postings = entry.postings.filter((posting) => posting.amount !== 0n);
  const rows = await transaction.query(insertEntry, [
    `${entry.kind}:${entry.chainId}:${entry.orderId}`,
    entry.kind,
    entry.orderId,
    entry.chainId,
    entry.txHash,
    entry.at,
    postings.map((posting) => posting.account),
    postings.map((posting) => posting.asset),
    postings.map((posting) => posting.amount),
  ]);
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
