import { ofMerchantRoutes as routes } from '@florin/protocol/dashboard-api.ts';
import type { LinkContext } from '#links/context.ts';
import { readLinkHistory } from '#links/link-history.ts';
import { deleteLink } from '#links/link-status.ts';
import type { MerchantRoutes } from '../operations/once.ts';

/** What members do with payment links beside the merchant API: deleting one, and reading its versions. */
export function addOwnLinkRoutes(add: MerchantRoutes, deps: Omit<LinkContext, 'isPayable'>): void {
  add.action(routes.deleteLink, ({ body: { linkId }, caller: { merchantId } }, transaction) =>
    deleteLink(transaction, deps, { merchantId, linkId }),
  );

  add.read(routes.getLinkHistory, ({ params: { linkId }, caller: { merchantId } }, db) =>
    readLinkHistory(db, { merchantId, linkId, now: deps.clock.now() }),
  );
}
