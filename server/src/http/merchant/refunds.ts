import { merchantApi } from '@florin/protocol/merchant-api.ts';
import type { Database } from '#db/database.ts';
import { createRefund, findRefund, listRefunds, type RefundDeps } from '#refunds/refund.ts';
import type { MerchantRoutes } from './once.ts';
import { hasMore } from './page.ts';

const { routes } = merchantApi;

/** Refunds: create, read and list. */
export function addRefundRoutes(add: MerchantRoutes, db: Database, deps: RefundDeps): void {
  add.change(routes.createRefund, ({ body, caller: { merchantId } }, transaction) =>
    createRefund(transaction, deps, { merchantId, body }),
  );

  add.read(routes.getRefund, ({ params: { refundId }, caller: { merchantId } }) =>
    findRefund(db, { merchantId, refundId }),
  );

  add.read(routes.listRefunds, async ({ params, caller: { merchantId } }) => {
    const { total, refunds } = await listRefunds(db, { ...params, merchantId });
    return { total, ...params, hasMore: hasMore(total, params), refunds };
  });
}
