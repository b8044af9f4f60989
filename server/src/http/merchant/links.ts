import { merchantApi } from '@florin/protocol/merchant-api.ts';
import type { Database } from '#db/database.ts';
import { createLink, type LinkDeps, linkDetail, listLinks, updateLink } from '#links/link.ts';
import { disableLink, enableLink } from '#links/link-status.ts';
import type { ApiKeyIdentity } from '#merchants/api-key.ts';
import { type AddRoute, success } from '../route-handler.ts';
import { hasMore } from './page.ts';

const { routes } = merchantApi;

/** Payment links: create, change, list and read. */
export function addLinkRoutes(addRoute: AddRoute<ApiKeyIdentity>, db: Database, deps: LinkDeps): void {
  addRoute(routes.createLink, ({ body, caller: { merchantId } }) =>
    db.transaction((transaction) => createLink(transaction, deps, { merchantId, body })),
  );

  addRoute(routes.updateLink, async ({ body, caller: { merchantId } }) => {
    // A read nests the items; whoever sends a read back means the same.
    const lineItems = 'items' in body.lineItems ? body.lineItems.items : body.lineItems;
    const request = { merchantId, linkId: body.linkId, body: { ...body, lineItems } };
    await db.transaction((transaction) => updateLink(transaction, deps, request));
    return success;
  });

  addRoute(routes.getLink, ({ params, caller: { merchantId } }) =>
    linkDetail(db, deps, { merchantId, linkId: params.linkId }),
  );

  addRoute(routes.listLinks, async ({ params, caller: { merchantId } }) => {
    const { total, links } = await listLinks(db, deps, { ...params, merchantId });
    return {
      links,
      total,
      page: String(params.page),
      size: String(params.size),
      hasMore: hasMore(total, params),
    };
  });

  addRoute(routes.disableLink, async ({ body, caller: { merchantId } }) => {
    await db.transaction((transaction) => disableLink(transaction, deps, { ...body, merchantId }));
    return success;
  });

  addRoute(routes.enableLink, async ({ body, caller: { merchantId } }) => {
    await db.transaction((transaction) => enableLink(transaction, deps, { ...body, merchantId }));
    return success;
  });
}
