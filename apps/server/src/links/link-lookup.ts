import type { Queryable, Transaction } from '@florin/pg';
import { Refusal } from '@florin/protocol/error.ts';
import type { Link, LinkDetail } from '@florin/protocol/link.ts';
import { type ItemProduct, productsForItems } from '#catalog/product.ts';
import { type ListPage, type ListRequest, pageValues, readPage } from '#db/list-page.ts';
import type { LinkContext } from './context.ts';
import {
  exceptionPolicyOfLink,
  itemsOfLinks,
  type LinkItemRow,
  type LinkRow,
  linksById,
  lockLink,
  selectLinkPage,
} from './link.sql.ts';
import { linkDetailOf, linkListItem } from './link-json.ts';
import { parseLink, policyOf } from './link-row.ts';
import type { StoredLink } from './stored-link.ts';

/** A link with the current products that it shows, by id. */
export interface LoadedLink {
  readonly link: StoredLink;
  readonly products: ReadonlyMap<string, ItemProduct>;
}

/** What showing a link needs of the process. */
export type ShownContext = Pick<LinkContext, 'origin' | 'chains' | 'clock'>;

/** The products that line items name, each once. */
export function productIdsOf(items: readonly { readonly productId: string }[]): string[] {
  return [...new Set(items.map((item) => item.productId).filter((productId) => productId !== ''))];
}

/** A link whose row is locked: its stored status, and its limits. */
export interface LockedLink {
  readonly status: 'active' | 'disabled';
  readonly paymentCount: bigint;
  readonly maxPayments: number | undefined;
  readonly activeUntil: Date | undefined;
}

/** Locks the merchant's link until the transaction ends. Refuses with 100101 or 100102. */
export async function lockOwnLink(
  transaction: Transaction,
  request: { merchantId: string; linkId: string },
): Promise<LockedLink> {
  const [row] = await transaction.query(lockLink, request);
  if (row === undefined) throw new Refusal('link_not_found', request.linkId);
  if (row.status === 'deleted') throw new Refusal('link_archived', request.linkId);
  return {
    status: row.status === 'active' ? 'active' : 'disabled',
    paymentCount: row.payment_count,
    maxPayments: row.max_payments ?? undefined,
    activeUntil: row.active_until ?? undefined,
  };
}

/** One link by id as it is at `now`, of any merchant and in any status; undefined when there is none. */
export async function findLink(
  queryable: Queryable,
  linkId: string,
  now: Date,
): Promise<StoredLink | undefined> {
  return (await loadLink(queryable, linkId, now))?.link;
}

/** A link's current policy for short and late deposits; undefined when it has none. */
export async function findExceptionPolicy(
  queryable: Queryable,
  linkId: string,
): Promise<StoredLink['exceptionPolicy']> {
  const [row] = await queryable.query(exceptionPolicyOfLink, { linkId });
  return policyOf(row?.exception_policy ?? null);
}

/** The same with the products that the link shows. */
async function loadLink(queryable: Queryable, linkId: string, now: Date): Promise<LoadedLink | undefined> {
  return (await loadLinks(queryable, await queryable.query(linksById, { linkIds: [linkId] }), now))[0];
}

/** Loads the items and products of these links, which belong to one merchant. */
async function loadLinks(queryable: Queryable, rows: readonly LinkRow[], now: Date): Promise<LoadedLink[]> {
  const merchantId = rows[0]?.merchant_id;
  if (merchantId === undefined) return [];
  const itemRows = await queryable.query(itemsOfLinks, { linkIds: rows.map((row) => row.link_id) });
  const productIds = productIdsOf(itemRows.map((item) => ({ productId: item.product_id })));
  const products =
    productIds.length === 0
      ? new Map<string, ItemProduct>()
      : await productsForItems(queryable, merchantId, productIds);
  const itemsByLink = Map.groupBy(itemRows, (item: LinkItemRow) => item.link_id);
  const loaded: LoadedLink[] = [];
  for (const [index, row] of rows.entries()) {
    // Each version hashes up to 64 KiB: let other requests run in between.
    if (index > 0 && index % linksAtOnce === 0) await new Promise((resolve) => setImmediate(resolve));
    loaded.push({ link: parseLink(row, itemsByLink.get(row.link_id) ?? [], products, now), products });
  }
  return loaded;
}

/** Links whose versions are computed without a pause. */
const linksAtOnce = 16;

/** Several links with their details, for events about each. */
export async function linkDetails(
  queryable: Queryable,
  deps: ShownContext,
  linkIds: readonly string[],
): Promise<LinkDetail[]> {
  const loaded = await loadLinks(queryable, await queryable.query(linksById, { linkIds }), deps.clock.now());
  return loaded.map(({ link, products }) => linkDetailOf(link, products, deps));
}

/** One link of the merchant in detail. Refuses with 100101 (unknown) or 100102 (deleted). */
export async function linkDetail(
  queryable: Queryable,
  deps: ShownContext,
  request: { merchantId: string; linkId: string },
): Promise<LinkDetail> {
  const { link, products } = await ownLink(queryable, deps, request);
  return linkDetailOf(link, products, deps);
}

/** One link of the merchant. Refuses with 100101 or 100102. */
export async function ownLink(
  queryable: Queryable,
  { clock }: Pick<LinkContext, 'clock'>,
  request: { merchantId: string; linkId: string },
): Promise<LoadedLink> {
  const loaded = await loadLink(queryable, request.linkId, clock.now());
  if (loaded === undefined || loaded.link.merchantId !== request.merchantId) {
    throw new Refusal('link_not_found', request.linkId);
  }
  if (loaded.link.status === 'deleted') throw new Refusal('link_archived', request.linkId);
  return loaded;
}

/** One page of the merchant's links, disabled ones included, newest first, with the exact total. */
export async function listLinks(
  queryable: Queryable,
  deps: Pick<LinkContext, 'origin' | 'clock'>,
  request: ListRequest,
): Promise<{ place: ListPage; links: Link[] }> {
  const found = await queryable.query(selectLinkPage, pageValues(request));
  const { place, rows } = readPage(found, request.size, (row) => row.link_id);
  const loaded = await loadLinks(queryable, rows, deps.clock.now());
  return { place, links: loaded.map(({ link }) => linkListItem(link, deps.origin)) };
}
