import { merchantApi } from '@florin/protocol/merchant-api.ts';
import type { LinkContext } from '#links/context.ts';
import { createLink, updateLink } from '#links/link.ts';
import { linkDetail, listLinks } from '#links/link-lookup.ts';
import { disableLink, enableLink } from '#links/link-status.ts';
import type { MerchantRoutes } from './once.ts';

const { routes } = merchantApi;

/** Payment links: create, change, list and read. */
export function addLinkRoutes(add: MerchantRoutes, deps: LinkContext): void {
  add.change(routes.createLink, ({ body, caller: { merchantId } }, transaction) =>
    createLink(transaction, deps, { merchantId, body }),
  );

  add.action(routes.updateLink, async ({ body, caller: { merchantId } }, transaction) => {
    // A read nests the items; accept the same form in an update.
    const lineItems = 'items' in body.lineItems ? body.lineItems.items : body.lineItems;
    const { linkId, ifUpdateAt } = body;
    const request = { merchantId, linkId, ifUpdateAt, body: { ...body, lineItems } };
    await updateLink(transaction, deps, request);
  });

  add.read(routes.getLink, ({ params, caller: { merchantId } }, db) =>
    linkDetail(db, deps, { merchantId, linkId: params.linkId }),
  );

  add.read(routes.listLinks, async ({ params, query, caller: { merchantId } }, db) => {
    const { place, links } = await listLinks(db, deps, { ...params, ...query, merchantId });
    return { links, ...place, page: String(params.page), size: String(params.size) };
  });

  add.action(routes.disableLink, ({ body, caller: { merchantId } }, transaction) =>
    disableLink(transaction, deps, { ...body, merchantId }),
  );

  add.action(routes.enableLink, ({ body, caller: { merchantId } }, transaction) =>
    enableLink(transaction, deps, { ...body, merchantId }),
  );
}
