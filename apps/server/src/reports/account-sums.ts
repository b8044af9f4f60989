import type { Queryable } from '@florin/pg';
import { fieldRefusal, Refusal } from '@florin/protocol/error.ts';
import { findAccount } from '#merchants/account.ts';
import { type Clock, unixSeconds } from '#outside/clock.ts';
import { sumsOfAccounts } from './report.sql.ts';

/** The sums read every payment of their time. */
const maxSumSeconds = 100 * 86_400;

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
  const { merchantId, times, accountId = '' } = request;
  if (times.some((time, index) => index > 0 && time <= (times[index - 1] ?? 0)))
    throw fieldRefusal('times', 'must ascend');
  if ((times.at(-1) ?? 0) - (times[0] ?? 0) > maxSumSeconds)
    throw fieldRefusal('times', 'must end within 100 days');
  if (accountId !== '' && (await findAccount(queryable, merchantId, accountId)) === undefined)
    throw new Refusal('account_not_found', { detail: accountId, param: 'accountId' });
  const rows = await queryable.query(sumsOfAccounts, {
    ...{ merchantId, accountId, times: times.map((seconds) => new Date(seconds * 1_000)) },
  });
  return {
    asOf: unixSeconds(deps.clock.now()),
    sums: rows.map((row) => ({
      period: row.period,
      kind: row.kind as 'received' | 'settled' | 'refunded',
      accountId: row.account_id,
      tokenId: row.token_id,
      count: Number(row.payments),
      totalValue: String(row.total_value),
      feeValue: String(row.fee_value),
      netValue: String(row.net_value),
    })),
  };
}
