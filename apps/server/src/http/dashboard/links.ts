import { ofMerchantRoutes as routes } from '@florin/protocol/dashboard-api.ts';
import type { LinkContext } from '#links/context.ts';
import { deleteLink } from '#links/link-status.ts';
import type { MerchantRoutes } from '../operations/once.ts';

/** Deleting a payment link, which no API key may do. */
export function addLinkDeletion(add: MerchantRoutes, deps: Omit<LinkContext, 'isPayable'>): void {
  add.action(routes.deleteLink, ({ body: { linkId }, caller: { merchantId } }, transaction) =>
    deleteLink(transaction, deps, { merchantId, linkId }),
  );
}
