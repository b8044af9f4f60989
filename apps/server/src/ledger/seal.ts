import { createHash } from 'node:crypto';
import type { Queryable, Transaction } from '@florin/pg';
import {
  countUnsealed,
  type EntryContent,
  insertSeals,
  lockHead,
  moveHead,
  readHead,
  sealedEntries,
  unbalancedEntries,
  unsealedEntries,
} from './seal.sql.ts';

/** Entries sealed in one transaction. */
export const sealBatch = 500;
/** Entries read at once by a verification. */
const verifyBatch = 1_000;
/** The most problems that one verification reports. */
const maxProblems = 20;

/** The hash of a seal: SHA-256 over the hash before it and the entry's content as JSON, without its number. */
export function sealHash(previous: Buffer, entry: EntryContent): Buffer {
  const content = [
    entry.entry_key,
    entry.kind,
    entry.order_id,
    entry.chain_id.toString(),
    entry.tx_hash,
    entry.booked_at,
    entry.accounts.map((account, index) => [account, entry.assets[index], entry.amounts[index]]),
  ];
  return createHash('sha256').update(previous).update(JSON.stringify(content)).digest();
}

/** Seals committed entries, the oldest first, and returns how many. Sealers take turns. Writers never wait. */
export async function sealEntries(transaction: Transaction, now: Date): Promise<number> {
  const [head] = await transaction.query(lockHead);
  if (head === undefined) throw new Error('the ledger has no head');
  const entries = await transaction.query(unsealedEntries, { limit: sealBatch });
  if (entries.length === 0) return 0;
  const hashes: Buffer[] = [];
  let previous = head.hash;
  for (const entry of entries) {
    previous = sealHash(previous, entry);
    hashes.push(previous);
  }
  const sealed = await transaction.query(insertSeals, {
    sealNumbers: entries.map((_, index) => head.seal_number + BigInt(index + 1)),
    entryIds: entries.map((entry) => entry.entry_id),
    hashes,
    sealedAt: now,
  });
  if (sealed.length !== entries.length)
    throw new Error('another process took an entry out of the queue of unsealed entries');
  const sealNumber = head.seal_number + BigInt(entries.length);
  await transaction.query(moveHead, { sealNumber, hash: previous });
  return entries.length;
}

/** What a verification of the whole ledger found. */
export interface LedgerProof {
  /** Entries under a seal that holds. */
  readonly sealed: bigint;
  /** Entries that were committed a moment ago, or while no worker ran. */
  readonly unsealed: bigint;
  /** The last hash in hex. An operator who keeps it elsewhere can later prove that no earlier entry was changed. */
  readonly head: string;
  /** Sentences; empty when the books are whole. */
  readonly problems: readonly string[];
}

/**
 * Computes every seal and the sum of every entry again. `anchor` is a head (hex) from an earlier verification. It must be
 * a hash of the chain: so a chain of which a part was rewritten and sealed again is reported, too.
 */
export async function verifyLedger(queryable: Queryable, anchor?: string): Promise<LedgerProof> {
  // Read first: entries that are sealed during the verification come after it.
  const [head] = await queryable.query(readHead);
  if (head === undefined) throw new Error('the ledger has no head');
  const problems: string[] = [];
  let previous: Buffer = Buffer.alloc(32);
  let isAnchored = anchor === undefined || anchor === previous.toString('hex');
  let sealed = 0n;
  while (sealed < head.seal_number && problems.length < maxProblems) {
    const entries = await queryable.query(sealedEntries, {
      afterSeal: sealed,
      untilSeal: head.seal_number,
      limit: verifyBatch,
    });
    if (entries.length === 0) break;
    for (const entry of entries) {
      if (entry.seal_number !== sealed + 1n) problems.push(`seal ${sealed + 1n} is missing`);
      else if (!sealHash(previous, entry).equals(entry.hash))
        problems.push(`entry ${entry.entry_id} (${entry.entry_key}) differs from what was sealed`);
      previous = entry.hash;
      sealed = entry.seal_number;
      isAnchored ||= entry.hash.toString('hex') === anchor;
    }
  }
  if (problems.length === 0 && (head.seal_number !== sealed || !head.hash.equals(previous)))
    problems.push(`the chain ends at seal ${sealed}, but its head names seal ${head.seal_number}`);
  if (problems.length === 0 && !isAnchored) problems.push(`no seal has the hash ${anchor}`);
  const [counted] = await queryable.query(countUnsealed);
  const missing = counted?.missing ?? 0n;
  if (missing > 0n) problems.push(`${missing} entries have no seal and are not queued for one`);
  for (const row of await queryable.query(unbalancedEntries, { limit: maxProblems }))
    problems.push(`entry ${row.entry_id} sums to ${row.total} of ${row.asset}, not to zero`);
  return { sealed, unsealed: counted?.unsealed ?? 0n, head: previous.toString('hex'), problems };
}
