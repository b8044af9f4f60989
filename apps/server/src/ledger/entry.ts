import type { Queryable, Transaction } from '@florin/pg';
import { assetSums, balances, insertEntry, postingsOfEnds } from './entry.sql.ts';

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

/** How the gateway ends an order: one of them, once. */
const ends = ['settlement', 'refund', 'reclaim'] as const satisfies readonly EntryKind[];

/**
 * Books one on-chain fact in double entry, exactly once per kind, chain and order (or `fact`). False when it was booked
 * before. Omits postings of zero. PostgreSQL refuses to commit an entry whose postings do not sum to zero per asset.
 *
 * An order ends once. If another end of it is booked, a reorg below finality has taken that end back, and its entry is
 * reversed.
 */
export async function book(transaction: Transaction, entry: Entry): Promise<boolean> {
  const { kind, chainId, orderId } = entry;
  const otherEnds = ends.some((end) => end === kind) ? ends.filter((end) => end !== kind) : [];
  const booked =
    otherEnds.length === 0
      ? []
      : await transaction.query(postingsOfEnds, {
          orderId,
          chainId,
          otherEnds: otherEnds.map((end) => entryKey({ ...entry, kind: end })),
        });
  if (booked.length === 0) return insert(transaction, entry);
  for (const end of otherEnds) {
    const { entries, last } = entriesOf(booked, end);
    if (entries % 2 === 0) continue;
    const postings = last.map((posting) => ({ ...posting, amount: -posting.amount }));
    await insert(transaction, { ...entry, kind: end, fact: `${orderId}:entry:${entries}`, postings });
  }
  const { entries } = entriesOf(booked, kind);
  if (entries % 2 === 1) return false;
  return insert(transaction, entries === 0 ? entry : { ...entry, fact: `${orderId}:entry:${entries}` });
}

interface BookedPosting extends Posting {
  readonly entry_id: bigint;
  readonly kind: string;
}

/** How many entries of one end are booked, and the postings of the last. Every second one is a reversal. */
function entriesOf(
  booked: readonly BookedPosting[],
  end: EntryKind,
): { readonly entries: number; readonly last: readonly Posting[] } {
  const ofEnd = booked.filter(({ kind }) => kind === end);
  const ids = new Set(ofEnd.map((posting) => posting.entry_id));
  const last = ofEnd.filter((posting) => posting.entry_id === ofEnd.at(-1)?.entry_id);
  return { entries: ids.size, last };
}

function entryKey({ kind, chainId, fact, orderId }: Entry): string {
  return `${kind}:${chainId}:${fact ?? orderId}`;
}

async function insert(transaction: Transaction, entry: Entry): Promise<boolean> {
  const postings = entry.postings.filter((posting) => posting.amount !== 0n);
  const rows = await transaction.query(insertEntry, {
    ...entry,
    entryKey: entryKey(entry),
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
