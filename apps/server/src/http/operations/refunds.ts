import { merchantApi } from '@florin/protocol/merchant-api.ts';
import { cancelRefund } from '#refunds/cancellation.ts';
import { createRefund, findRefund, listRefunds, type RefundContext } from '#refunds/refund.ts';
import type { MerchantRoutes } from './once.ts';

const { routes } = merchantApi;

/** Refunds: create, cancel, read and list. */
export function addRefundRoutes(add: MerchantRoutes, deps: RefundContext): void {
  add.change(routes.createRefund, ({ body, caller: { merchantId } }, transaction) =>
    createRefund(transaction, deps, { merchantId, body }),
  );

  add.change(routes.cancelRefund, ({ body: { refundId }, caller: { merchantId } }, transaction) =>
    cancelRefund(transaction, deps, { merchantId, refundId }),
  );

  add.read(routes.getRefund, ({ params: { refundId }, caller: { merchantId } }, db) =>
    findRefund(db, deps, { merchantId, refundId }),
  );

  add.list(routes.listRefunds, async ({ params, query, caller: { merchantId } }, db) => {
    const { place, refunds } = await listRefunds(db, deps, { ...params, ...query, merchantId });
    return { ...place, ...params, refunds };
  });
}
