import type { Queryable } from '@florin/pg';
import { findUnmatchedPayments, type UnmatchedPayment } from './movement.ts';
import { chainsAfterRestoration, liveKeys, newestRestoration, rebuiltSince } from './restoration.sql.ts';

/** How far one chain has been read again. */
export interface RestoredChain {
  readonly chainId: number;
  /** The head in the backup; undefined when the backup does not have the chain. */
  readonly headAtBackup: bigint | undefined;
  readonly head: bigint;
  readonly final: bigint;
  /** Why settlement is stopped: `restored` until books and chain agree again. Empty when it runs. */
  readonly stopped: string;
}

/** The state of a database that was restored from a backup. */
export interface RestorationReport {
  readonly takenAt: Date;
  readonly restoredAt: Date;
  readonly archiveHash: string;
  readonly chains: readonly RestoredChain[];
  /** What the chains brought back: sessions that were paid, or settled, between backup and restore, and all events. */
  readonly rebuilt: { readonly paid: bigint; readonly completed: bigint; readonly events: bigint };
  /** Deliveries that are still to be sent. Those from before the backup have their old ids. */
  readonly waitingDeliveries: bigint;
  /** Keys that work and are older than the backup, including those that were revoked after it. */
  readonly liveKeys: bigint;
  /** Payments of orders that were signed after the backup, the oldest first. */
  readonly unmatched: readonly UnmatchedPayment[];
  /** Sentences about what the chains cannot bring back. */
  readonly lost: readonly string[];
}

/** The most unmatched payments that a report lists. */
const maxUnmatched = 1_000;

/** Reports on the last restore; undefined when there was none. */
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
    unmatched: await findUnmatchedPayments(queryable, maxUnmatched),
    lost: [
      `Sessions, links, products, accounts, webhooks and merchants created or changed ${span} are as in the backup, or gone.`,
      `Payments of orders signed ${span} are unmatched. The money is safe in the gateway: anyone can settle it to its merchant with the order's terms, or its payer reclaims it.`,
      `API keys revoked ${span} work again, and those created then do not: check florin key list.`,
      `Webhooks whose signing keys were refreshed ${span} have their old keys again.`,
      `Events raised ${span} come again with new ids, and their receipts with new receipt ids; older ones keep theirs.`,
      `Answers to idempotency keys used ${span} are lost: a repeated request is carried out again.`,
      `Refunds requested ${span} and not yet on chain are lost.`,
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
