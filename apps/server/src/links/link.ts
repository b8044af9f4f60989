import type { Queryable, Transaction } from '@florin/pg';
import { Refusal } from '@florin/protocol/error.ts';
import type { EventType } from '@florin/protocol/event.ts';
import { newId } from '@florin/protocol/id.ts';
import type { Link, LinkCreateBody, LinkCreated, LinkDetail } from '@florin/protocol/link.ts';
import type { MicroUsd } from '@florin/protocol/money.ts';
import { type ItemProduct, productsForItems, referenceProducts } from '#catalog/product.ts';
import type { Chains } from '#chains/chain.ts';
import { type ListPage, type ListRequest, pageValues, readPage } from '#db/list-page.ts';
import { findAccount } from '#merchants/account.ts';
import { emit } from '#webhooks/outbox.ts';
import type { LinkContext } from './context.ts';
import {
  deleteLinkItems,
  exceptionPolicyOfLink,
  insertLink,
  insertLinkItems,
  itemsOfLinks,
  type LinkItemRow,
  type LinkRow,
  linksById,
  lockAccount,
  lockLink,
  replaceLink,
  selectLinkPage,
  takeLinkTurn,
} from './link.sql.ts';
import { linkCreated, linkDetailOf, linkEventData, linkListItem } from './link-json.ts';
import { parseLink, policyOf } from './link-row.ts';
import {
  assertItemsFit,
  assertSellable,
  assertSettlementToken,
  type LinkItem,
  linkAmountOf,
  linkItemsOf,
} from './link-terms.ts';
import type { StoredLink } from './stored-link.ts';

/** A link with the current products that it shows, by id. */
interface LoadedLink {
  readonly link: StoredLink;
  readonly products: ReadonlyMap<string, ItemProduct>;
}

/**
 * Creates a payment link, with its event. Refuses items that do not fit the link's type, unknown or removed accounts,
 * tokens that are not configured or not enabled, missing or archived products, totals out of range, and items over 64 KiB.
 */
export async function createLink(
  transaction: Transaction,
  deps: LinkContext,
  request: { merchantId: string; body: LinkCreateBody },
): Promise<LinkCreated> {
  const { merchantId, body } = request;
  const linkId = newId('link', deps.random.bytes);
  const { items, amount } = await checkedTerms(transaction, deps, merchantId, body);
  const now = deps.clock.now();
  await transaction.query(insertLink, { linkId, merchantId, ...fieldValues(body, amount), createdAt: now });
  await transaction.query(insertLinkItems, itemValues(linkId, items));
  const { link } = await emitLink(transaction, deps, { merchantId, linkId }, 'payment.link.created');
  return linkCreated(link, deps.origin);
}

/**
 * Replaces every field of a link, with its event. Omitted fields are reset. A disabled link stays disabled, and open sessions
 * keep their copy. Refuses what createLink refuses, an unknown link (100101) and a deleted one (100102).
 */
export async function updateLink(
  transaction: Transaction,
  deps: LinkContext,
  request: { merchantId: string; linkId: string; body: LinkCreateBody },
): Promise<void> {
  const { merchantId, linkId, body } = request;
  await transaction.query(takeLinkTurn, { linkId });
  await ownLink(transaction, request);
  const { items, amount } = await checkedTerms(transaction, deps, merchantId, body);
  await lockOwnLink(transaction, request);
  await transaction.query(replaceLink, { linkId, ...fieldValues(body, amount), updatedAt: deps.clock.now() });
  await transaction.query(deleteLinkItems, { linkId });
  await transaction.query(insertLinkItems, itemValues(linkId, items));
  await emitLink(transaction, deps, { merchantId, linkId }, 'payment.link.updated');
}

/** Checks the terms of a link. Locks its account, then its products: every change of links uses this order. */
async function checkedTerms(
  transaction: Transaction,
  deps: LinkContext,
  merchantId: string,
  body: LinkCreateBody,
): Promise<{ items: LinkItem[]; amount: MicroUsd }> {
  const items = linkItemsOf(body, deps.random);
  await assertAccount(transaction, deps.chains, merchantId, body);
  const productIds = productIdsOf(items);
  assertSellable(productIds, await referenceProducts(transaction, merchantId, productIds));
  const amount = linkAmountOf(items);
  const { settlementToken, feeModel } = body;
  if (body.linkType === 'fixed' && !deps.isPayable({ settlementToken, paymentValue: amount, feeModel })) {
    throw new Refusal('amount_out_of_range', 'no route takes this total');
  }
  return { items, amount };
}

/** The products that line items name, each once. */
export function productIdsOf(items: readonly { readonly productId: string }[]): string[] {
  return [...new Set(items.map((item) => item.productId).filter((productId) => productId !== ''))];
}

async function assertAccount(
  transaction: Transaction,
  chains: Chains,
  merchantId: string,
  body: LinkCreateBody,
): Promise<void> {
  await transaction.query(lockAccount, { accountId: body.accountId });
  const account = await findAccount(transaction, merchantId, body.accountId);
  if (account === undefined) {
    throw new Refusal('account_not_found', { detail: body.accountId, param: 'accountId' });
  }
  if (account.status !== 'normal') {
    throw new Refusal('account_removed', { detail: body.accountId, param: 'accountId' });
  }
  assertSettlementToken(chains, body.settlementToken, account.settlementCurrencies);
}

/** The fields that create and update both write. */
function fieldValues(body: LinkCreateBody, amount: MicroUsd) {
  return {
    linkType: body.linkType,
    linkName: body.linkName,
    accountId: body.accountId,
    settlementToken: body.settlementToken,
    feeModel: body.feeModel,
    amount,
    payerEmailRequired: body.payerEmailRequired === 1,
    successUrl: body.successUrl ?? '',
    customSuccessText: body.customSuccessText ?? '',
    customDisabledText: body.customDisabledText ?? '',
    exceptionPolicy: policyText(body.exceptionPolicy),
  };
}

/** An empty policy is stored as null. */
function policyText(policy: LinkCreateBody['exceptionPolicy']): string | null {
  return policy === undefined || Object.keys(policy).length === 0 ? null : JSON.stringify(policy);
}

function itemValues(linkId: string, items: readonly LinkItem[]) {
  return {
    linkId,
    lineItemIds: items.map((item) => item.lineItemId),
    itemTypes: items.map((item) => item.itemType),
    productIds: items.map((item) => item.productId),
    quantities: items.map((item) => item.quantity),
    unitPrices: items.map((item) => BigInt(item.unitPrice)),
  };
}

async function emitLink(
  transaction: Transaction,
  deps: LinkContext,
  changed: { merchantId: string; linkId: string },
  type: EventType,
): Promise<LoadedLink> {
  const loaded = await ownLink(transaction, changed);
  assertItemsFit(loaded.link.items);
  const detail = linkDetailOf(loaded.link, loaded.products, deps);
  const { merchantId: ownerId, linkId: objectId } = changed;
  await emit(transaction, deps.random, [
    { ownerId, type, objectId, ...linkEventData(detail), at: deps.clock.now() },
  ]);
  return loaded;
}

/** Locks the merchant's link until the transaction ends, and returns its status. Refuses with 100101 or 100102. */
export async function lockOwnLink(
  transaction: Transaction,
  request: { merchantId: string; linkId: string },
): Promise<'active' | 'disabled'> {
  const [row] = await transaction.query(lockLink, request);
  if (row === undefined) throw new Refusal('link_not_found', request.linkId);
  if (row.status === 'deleted') throw new Refusal('link_archived', request.linkId);
  return row.status === 'active' ? 'active' : 'disabled';
}

/** One link by id, of any merchant and in any status; undefined when there is none. */
export async function findLink(queryable: Queryable, linkId: string): Promise<StoredLink | undefined> {
  return (await loadLink(queryable, linkId))?.link;
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
async function loadLink(queryable: Queryable, linkId: string): Promise<LoadedLink | undefined> {
  return (await loadLinks(queryable, await queryable.query(linksById, { linkIds: [linkId] })))[0];
}

/** Loads the items and products of these links, which belong to one merchant. */
async function loadLinks(queryable: Queryable, rows: readonly LinkRow[]): Promise<LoadedLink[]> {
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
    loaded.push({ link: parseLink(row, itemsByLink.get(row.link_id) ?? [], products), products });
  }
  return loaded;
}

/** Links whose versions are computed without a pause. */
const linksAtOnce = 16;

/** Several links with their details, for events about each. */
export async function linkDetails(
  queryable: Queryable,
  deps: { origin: string; chains: Chains },
  linkIds: readonly string[],
): Promise<LinkDetail[]> {
  const loaded = await loadLinks(queryable, await queryable.query(linksById, { linkIds }));
  return loaded.map(({ link, products }) => linkDetailOf(link, products, deps));
}

/** One link of the merchant in detail. Refuses with 100101 (unknown) or 100102 (deleted). */
export async function linkDetail(
  queryable: Queryable,
  deps: { origin: string; chains: Chains },
  request: { merchantId: string; linkId: string },
): Promise<LinkDetail> {
  const { link, products } = await ownLink(queryable, request);
  return linkDetailOf(link, products, deps);
}

/** One link of the merchant. Refuses with 100101 or 100102. */
export async function ownLink(
  queryable: Queryable,
  request: { merchantId: string; linkId: string },
): Promise<LoadedLink> {
  const loaded = await loadLink(queryable, request.linkId);
  if (loaded === undefined || loaded.link.merchantId !== request.merchantId) {
    throw new Refusal('link_not_found', request.linkId);
  }
  if (loaded.link.status === 'deleted') throw new Refusal('link_archived', request.linkId);
  return loaded;
}

/** One page of the merchant's links, disabled ones included, newest first, with the exact total. */
export async function listLinks(
  queryable: Queryable,
  deps: { origin: string },
  request: ListRequest,
): Promise<{ place: ListPage; links: Link[] }> {
  const found = await queryable.query(selectLinkPage, pageValues(request));
  const { place, rows } = readPage(found, request.size, (row) => row.link_id);
  const loaded = await loadLinks(queryable, rows);
  return { place, links: loaded.map(({ link }) => linkListItem(link, deps.origin)) };
}
