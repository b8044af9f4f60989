import { ofMerchantRoutes as routes } from '@florin/protocol/dashboard-api.ts';
import type { Chains } from '#chains/chain.ts';
import { networkTitle } from '#chains/networks.ts';
import { findLinksSettlingIn } from '#links/settling-links.ts';
import { closureOf } from '#orders/quote.ts';
import type { Clock } from '#outside/clock.ts';
import { findAttention } from '#reports/attention.ts';
import { sumAccounts, sumPeriods } from '#reports/period-sums.ts';
import type { MerchantRoutes } from '../operations/once.ts';
import { onItsWay } from './summary.sql.ts';

/** The numbers of the dashboard's first page. */
export function addSummaryRoutes(
  add: MerchantRoutes,
  { clock, chains }: { readonly clock: Clock; readonly chains: Chains },
): void {
  add.list(routes.getSummary, async ({ caller: { merchantId } }, db) => {
    const moving = await db.query(onItsWay, { merchantId });
    const tokenIds = chains.tokens
      .map(({ tokenId }) => tokenId)
      .filter((tokenId) => closureOf(chains, tokenId) !== undefined);
    return {
      onItsWay: moving.map((row) => ({
        accountId: row.account_id,
        tokenId: row.settlement_token,
        status: row.status,
        payments: Number(row.payments),
        netValue: String(row.net_value),
      })),
      ...(await findAttention(db, { merchantId, now: clock.now() })),
      closedLinks: await findLinksSettlingIn(db, { merchantId, tokenIds }),
      closedNetworks: chains.all
        .filter(({ chainId }) => chains.conditions?.of(chainId).status === 'unavailable')
        .map(networkTitle),
    };
  });

  add.query(routes.getPeriodSums, ({ caller: { merchantId }, body }, db) =>
    sumPeriods(db, { merchantId, ...body }),
  );

  add.query(routes.getAccountSums, ({ caller: { merchantId }, body }, db) =>
    sumAccounts(db, { clock }, { merchantId, ...body }),
  );
}
