import type { Queryable, Row } from '@florin/pg';
import { keyWarningDays } from '@florin/protocol/permission.ts';
import { needsAttention } from './report.sql.ts';

/** How many need attention, and the oldest of them: at most 20 ids. */
interface Needing {
  readonly count: number;
  readonly ids: string[];
}

/** What a merchant's members should look at. */
export interface Attention {
  readonly exceptions: Needing;
  /** Those of them whose money goes back unless the merchant decides otherwise in time. */
  readonly undecidedExceptions: Needing;
  readonly pausedWebhooks: Needing;
  /** Sessions. */
  readonly delayedSettlements: Needing;
  /** Sessions whose payment a reorg below finality took back. */
  readonly lostPayments: Needing;
  /** API keys that expire within `keyWarningDays`. */
  readonly expiringKeys: Needing;
}

const keyWarningMs = keyWarningDays * 86_400_000;

export async function findAttention(
  queryable: Queryable,
  { merchantId, now }: { readonly merchantId: string; readonly now: Date },
): Promise<Attention> {
  const expireBefore = new Date(now.getTime() + keyWarningMs);
  const rows = await queryable.query(needsAttention, { merchantId, now, expireBefore });
  return {
    exceptions: ofKind(rows, 'exceptions'),
    undecidedExceptions: ofKind(rows, 'undecided'),
    pausedWebhooks: ofKind(rows, 'webhooks'),
    delayedSettlements: ofKind(rows, 'settlements'),
    lostPayments: ofKind(rows, 'lost'),
    expiringKeys: ofKind(rows, 'keys'),
  };
}

function ofKind(rows: readonly Row<typeof needsAttention>[], kind: string): Needing {
  const row = rows.find((each) => each.kind === kind);
  return { count: Number(row?.total ?? 0n), ids: row?.ids ?? [] };
}
