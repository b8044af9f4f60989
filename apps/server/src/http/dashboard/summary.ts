import type { Row } from '@florin/pg';
import { ofMerchantRoutes as routes } from '@florin/protocol/dashboard-api.ts';
import type { Clock } from '#outside/clock.ts';
import type { MerchantRoutes } from '../operations/once.ts';
import { needsAttention, onItsWay } from './summary.sql.ts';

const keyWarningMs = 14 * 86_400_000;

/** The numbers of the dashboard's first page. */
export function addSummaryRoutes(add: MerchantRoutes, { clock }: { readonly clock: Clock }): void {
  add.read(routes.getSummary, async ({ caller: { merchantId } }, db) => {
    const now = clock.now();
    const moving = await db.query(onItsWay, { merchantId });
    const expireBefore = new Date(now.getTime() + keyWarningMs);
    const rows = await db.query(needsAttention, { merchantId, now, expireBefore });
    return {
      onItsWay: moving.map((row) => ({
        accountId: row.account_id,
        tokenId: row.settlement_token,
        status: row.status,
        payments: Number(row.payments),
        netValue: String(row.net_value),
      })),
      exceptions: ofKind(rows, 'exceptions'),
      pausedWebhooks: ofKind(rows, 'webhooks'),
      delayedSettlements: ofKind(rows, 'settlements'),
      expiringKeys: ofKind(rows, 'keys'),
    };
  });
}

function ofKind(rows: readonly Row<typeof needsAttention>[], kind: string) {
  const row = rows.find((each) => each.kind === kind);
  return { count: Number(row?.total ?? 0n), ids: row?.ids ?? [] };
}
