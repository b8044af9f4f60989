import type { Queryable, Row } from '@florin/pg';
import { fieldRefusal, Refusal } from '@florin/protocol/error.ts';
import { findAccount } from '#merchants/account.ts';
import { type Clock, unixSeconds } from '#outside/clock.ts';
import { sumsOfAccounts, sumsOfPeriods } from './period-sums.sql.ts';

/** The sums read every hour of their time. */
const maxSumSeconds = 100 * 86_400;

/**
 * What was received and settled by period and token; Micro-USD as decimal texts. Refuses times that do not ascend or are
 * more than 100 days apart (400101).
 */
export async function sumPeriods(
  queryable: Queryable,
  { merchantId, times }: { readonly merchantId: string; readonly times: readonly number[] },
) {
  const rows = await queryable.query(sumsOfPeriods, { merchantId, times: datesOf(times) });
  const rowsOf = (kind: string) => rows.filter((row) => row.kind === kind);
  return {
    received: rowsOf('received').map((row) => ({ ...periodOf(row), totalValue: String(row.total_value) })),
    settled: rowsOf('settled').map((row) => ({
      ...periodOf(row),
      feeValue: String(row.fee_value),
      netValue: String(row.net_value),
    })),
  };
}

function periodOf(row: Row<typeof sumsOfPeriods>) {
  return { period: row.period, tokenId: row.token_id, payments: Number(row.payments) };
}

function datesOf(times: readonly number[]): Date[] {
  if (times.some((time, index) => index > 0 && time <= (times[index - 1] ?? 0)))
    throw fieldRefusal('times', 'must ascend');
  if ((times.at(-1) ?? 0) - (times[0] ?? 0) > maxSumSeconds)
    throw fieldRefusal('times', 'must end within 100 days');
  return times.map((seconds) => new Date(seconds * 1_000));
}

/**
 * What was received, settled and refunded by period, account and token; Micro-USD as decimal texts. Refuses times that do not
 * ascend or are more than 100 days apart (400101), and an unknown account (100401).
 */
export async function sumAccounts(
  queryable: Queryable,
  deps: { readonly clock: Clock },
  request: {
    readonly merchantId: string;
    readonly times: readonly number[];
    readonly accountId?: string | undefined;
  },
) {
  const { merchantId, accountId = '' } = request;
  const times = datesOf(request.times);
  if (accountId !== '' && (await findAccount(queryable, merchantId, accountId)) === undefined)
    throw new Refusal('account_not_found', { detail: accountId, param: 'accountId' });
  const rows = await queryable.query(sumsOfAccounts, { merchantId, accountId, times });
  return {
    asOf: unixSeconds(deps.clock.now()),
    sums: rows.map((row) => ({
      period: row.period,
      kind: row.kind as 'received' | 'settled' | 'refunded',
      accountId: row.account_id,
      accountName: row.account_name,
      tokenId: row.token_id,
      count: Number(row.payments),
      totalValue: String(row.total_value),
      feeValue: String(row.fee_value),
      netValue: String(row.net_value),
    })),
  };
}
