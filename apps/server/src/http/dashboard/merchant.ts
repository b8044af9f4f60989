import { ofMerchantRoutes as routes } from '@florin/protocol/dashboard-api.ts';
import { renameMerchant } from '#merchants/merchant.ts';
import type { MerchantRoutes } from '../operations/once.ts';

/** What the merchant's own record says of it. */
export function addOwnMerchantRoutes(add: MerchantRoutes): void {
  add.action(routes.renameMerchant, async ({ body, caller: { merchantId } }, transaction) => {
    await renameMerchant(transaction, { ...body, merchantId });
  });
}
