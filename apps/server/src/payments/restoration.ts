import type { Queryable } from '@florin/pg';
import { findUnmatchedPayments, type UnmatchedPayment } from './movement.ts';
import { chainsAfterRestoration, liveKeys, newestRestoration, rebuiltSince } from './restoration.sql.ts';

/** How far one chain has been read again. */
export interface RestoredChain {
  readonly chainId: number;
  /** Where the backup stood; undefined when it did not know the chain. */
  readonly headAtBackup: bigint | undefined;
  readonly head: bigint;
  readonly final: bigint;
  /** Empty when it settles; else why it does not: `restored` until books and chain agree again. */
  readonly stopped: string;
}

/** What became of a database that was restored from a backup. */
export interface RestorationReport {
  readonly takenAt: Date;
  readonly restoredAt: Date;
  readonly archiveHash: string;
  readonly chains: readonly RestoredChain[];
  /** Sessions whose payment, or settlement, came between backup and restore and that the chains have told of again. */
  readonly rebuilt: { readonly paid: bigint; readonly completed: bigint; readonly events: bigint };
  /** Deliveries that are still to be sent, those from before the backup under their old ids. */
  readonly waitingDeliveries: bigint;
  /** Keys that work and were made before the backup; those revoked after it are among them. */
  readonly liveKeys: bigint;
  /** Payments of orders that were signed after the backup; the oldest ones. */
  readonly unmatched: readonly UnmatchedPayment[];
  /** Sentences: what no chain can tell. */
  readonly lost: readonly string[];
}

/** Unmatched payments that one report lists. */
const listed = 1_000;

/** Tells about the last restore; undefined when there was none. */
export async function reportRestoration(queryable: Queryable): Promise<RestorationReport | undefined> {
  const [restored] = await queryable.query(newestRestoration);
  if (restored === undefined) return undefined;
  const { taken_at: takenAt, restored_at: restoredAt } = restored;
  const chains = await queryable.query(chainsAfterRestoration);
  const [rebuilt] = await queryable.query(rebuiltSince, { since: takenAt, until: restoredAt });
  const [keys] = await queryable.query(liveKeys, { takenAt });
  const span = `between ${takenAt.toISOString()} and ${restoredAt.toISOString()}`;
  return {
    takenAt,
    restoredAt,
    archiveHash: restored.archive_hash,
    chains: chains.map((row) => ({
      chainId: Number(row.chain_id),
      headAtBackup: headIn(restored.cursors, Number(row.chain_id)),
      head: row.head_number,
      final: row.final_number,
      stopped: row.halted_reason === '' ? row.stopped_reason : 'halted',
    })),
    rebuilt: {
      paid: rebuilt?.sessions_paid ?? 0n,
      completed: rebuilt?.sessions_completed ?? 0n,
      events: rebuilt?.events ?? 0n,
    },
    waitingDeliveries: rebuilt?.waiting ?? 0n,
    liveKeys: keys?.live_keys ?? 0n,
    unmatched: await findUnmatchedPayments(queryable, listed),
    lost: [
      `Sessions, links, products, accounts, webhooks and merchants made or changed ${span} are as in the backup, or gone.`,
      `Payments of orders signed ${span} are unmatched: the money is safe in the gateway, settles to its merchant by anyone's call of settle with the order's terms, or goes back to its payer by reclaim.`,
      `API keys revoked ${span} work again, and those made then do not: go through florin key list.`,
      `Signing keys of webhooks refreshed ${span} are the old ones again.`,
      `Events raised ${span} come again under new ids, and their receipts under new receipt ids; those from before keep theirs.`,
      `Answers to idempotency keys used ${span} are forgotten: a repeated request is carried out again.`,
      `Refunds asked for ${span} and not yet on chain are forgotten.`,
    ],
  };
}

function headIn(cursors: unknown, chainId: number): bigint | undefined {
  if (!Array.isArray(cursors)) return undefined;
  const found: unknown = cursors.find(
    (cursor) =>
      typeof cursor === 'object' && cursor !== null && 'chainId' in cursor && cursor.chainId === chainId,
  );
  if (typeof found !== 'object' || found === null || !('headNumber' in found)) return undefined;
  return BigInt(String(found.headNumber));
}
