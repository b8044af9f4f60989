import { merchantApi } from '@florin/protocol/merchant-api.ts';
import type { LinkContext } from '#links/context.ts';
import { createLink, updateLink } from '#links/link.ts';
import { linkDetail, listLinks } from '#links/link-lookup.ts';
import { disableLink, enableLink } from '#links/link-status.ts';
import { newReturns } from '#links/payer-place.ts';
import type { MerchantRoutes } from './once.ts';
import { assertMayShow, type TellContext, tellOfPlaces } from './tell-owners.ts';

const { routes } = merchantApi;

/** Payment links: create, change, list and read. Owners are told of each new origin to which one sends its payers. */
export function addLinkRoutes(add: MerchantRoutes, deps: LinkContext, telling: TellContext): void {
  add.change(routes.createLink, async (call, transaction) => {
    const { body, caller } = call;
    const { merchantId } = caller;
    const places = await newReturns(transaction, merchantId, body);
    assertMayShow(caller, places);
    const created = await createLink(transaction, deps, { merchantId, body });
    const { linkName } = body;
    await tellOfPlaces(transaction, telling, call, { subject: created.linkId, linkName, places });
    return created;
  });

  add.action(routes.updateLink, async (call, transaction) => {
    const { body, caller } = call;
    const { merchantId } = caller;
    const places = await newReturns(transaction, merchantId, body);
    assertMayShow(caller, places);
    // A read nests the items; accept the same form in an update.
    const lineItems = 'items' in body.lineItems ? body.lineItems.items : body.lineItems;
    const { linkId, linkName, ifUpdateAt } = body;
    const request = { merchantId, linkId, ifUpdateAt, body: { ...body, lineItems } };
    await updateLink(transaction, deps, request);
    await tellOfPlaces(transaction, telling, call, { subject: linkId, linkName, places });
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
