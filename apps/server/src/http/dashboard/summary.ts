import type { Row } from '@florin/pg';
import { ofMerchantRoutes as routes } from '@florin/protocol/dashboard-api.ts';
import { fieldRefusal } from '@florin/protocol/error.ts';
import type { Clock } from '#outside/clock.ts';
import { sumAccounts } from '#reports/account-sums.ts';
import { findAttention } from '#reports/attention.ts';
import type { MerchantRoutes } from '../operations/once.ts';
import { onItsWay, sumsOfPeriods } from './summary.sql.ts';

/** The sums read every payment of their time. */
const maxSumSeconds = 100 * 86_400;

/** The numbers of the dashboard's first page. */
export function addSummaryRoutes(add: MerchantRoutes, { clock }: { readonly clock: Clock }): void {
  add.read(routes.getSummary, async ({ caller: { merchantId } }, db) => {
    const moving = await db.query(onItsWay, { merchantId });
    return {
      onItsWay: moving.map((row) => ({
        accountId: row.account_id,
        tokenId: row.settlement_token,
        status: row.status,
        payments: Number(row.payments),
        netValue: String(row.net_value),
      })),
      ...(await findAttention(db, { merchantId, now: clock.now() })),
    };
  });

  add.query(routes.getPeriodSums, async ({ caller: { merchantId }, body }, db) => {
    const times = body.times.map((seconds) => new Date(seconds * 1_000));
    if (body.times.some((time, index) => index > 0 && time <= (body.times[index - 1] ?? 0)))
      throw fieldRefusal('times', 'must ascend');
    if ((body.times.at(-1) ?? 0) - (body.times[0] ?? 0) > maxSumSeconds)
      throw fieldRefusal('times', 'must end within 100 days');
    const rows = await db.query(sumsOfPeriods, { merchantId, times });
    const rowsOf = (kind: string) => rows.filter((row) => row.kind === kind);
    return {
      received: rowsOf('received').map((row) => ({ ...periodOf(row), totalValue: String(row.total_value) })),
      settled: rowsOf('settled').map((row) => ({
        ...periodOf(row),
        feeValue: String(row.fee_value),
        netValue: String(row.net_value),
      })),
    };
  });

  add.query(routes.getAccountSums, ({ caller: { merchantId }, body }, db) =>
    sumAccounts(db, { clock }, { merchantId, ...body }),
  );
}

function periodOf(row: Row<typeof sumsOfPeriods>) {
  return { period: row.period, tokenId: row.token_id, payments: Number(row.payments) };
}
