import type { Transaction } from '@florin/pg';
import { fieldRefusal, Refusal } from '@florin/protocol/error.ts';
import type { EventType } from '@florin/protocol/event.ts';
import { newId } from '@florin/protocol/id.ts';
import type { LinkCreateBody, LinkCreated } from '@florin/protocol/link.ts';
import type { MicroUsd } from '@florin/protocol/money.ts';
import { shopReturnOf } from '@florin/protocol/shop-return.ts';
import { formatTimestamp } from '@florin/protocol/timestamp.ts';
import { referenceProducts } from '#catalog/product.ts';
import type { Chains } from '#chains/chain.ts';
import { findAccount } from '#merchants/account.ts';
import { emit } from '#webhooks/outbox.ts';
import type { LinkContext } from './context.ts';
import {
  deleteLinkItems,
  insertLink,
  insertLinkItems,
  lockAccount,
  replaceLink,
  takeLinkTurn,
} from './link.sql.ts';
import { keepLinkVersion } from './link-history.ts';
import { linkCreated, linkDetailOf, linkEventData } from './link-json.ts';
import { type LoadedLink, lockOwnLink, ownLink, productIdsOf } from './link-lookup.ts';
import { changeLinks } from './link-status.ts';
import {
  assertItemsFit,
  assertSellable,
  assertSettlementToken,
  hasEnded,
  isLimitReached,
  type LinkItem,
  linkAmountOf,
  linkItemsOf,
} from './link-terms.ts';

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
  const now = deps.clock.now();
  assertEndsLater(body, now);
  const { items, amount } = await checkedTerms(transaction, deps, merchantId, body);
  await transaction.query(insertLink, { linkId, merchantId, ...fieldValues(body, amount), createdAt: now });
  await transaction.query(insertLinkItems, itemValues(linkId, items));
  const { link } = await emitLink(transaction, deps, { merchantId, linkId }, 'payment.link.created');
  return linkCreated(link, deps.origin);
}

/**
 * Replaces every field of a link, with its event. Omitted fields are reset. A disabled link stays disabled; an active one that
 * has had as many payments as its new limit allows is disabled, with that event. Open sessions keep their copy. Refuses what
 * createLink refuses, an unknown link (100101) and a deleted one (100102).
 */
export async function updateLink(
  transaction: Transaction,
  deps: LinkContext,
  request: { merchantId: string; linkId: string; body: LinkCreateBody; ifUpdateAt?: string | undefined },
): Promise<void> {
  const { merchantId, linkId, body, ifUpdateAt } = request;
  await transaction.query(takeLinkTurn, { of: linkId });
  const now = deps.clock.now();
  const { link } = await ownLink(transaction, deps, request);
  if (ifUpdateAt !== undefined && formatTimestamp(link.updatedAt) !== ifUpdateAt)
    throw new Refusal('link_version_invalid', `${linkId} has changed since it was read`);
  // A merchant may send back what a read shows, although the link has ended.
  if (link.activeUntil?.getTime() !== endOf(body)?.getTime()) assertEndsLater(body, now);
  const { items, amount } = await checkedTerms(transaction, deps, merchantId, body);
  const { status, paymentCount } = await lockOwnLink(transaction, request);
  await transaction.query(replaceLink, { linkId, ...fieldValues(body, amount), updatedAt: now });
  await transaction.query(deleteLinkItems, { linkId });
  await transaction.query(insertLinkItems, itemValues(linkId, items));
  const { link: changed } = await emitLink(transaction, deps, { merchantId, linkId }, 'payment.link.updated');
  if (changed.versionCode !== link.versionCode) await keepLinkVersion(transaction, link, now);
  if (status === 'active' && isLimitReached(body.maxPayments, paymentCount)) {
    await changeLinks(transaction, deps, {
      merchantId,
      linkIds: [linkId],
      from: status,
      trigger: 'limit_reached',
    });
  }
}

/** The end of a link; undefined when it has none. */
function endOf({ activeUntil }: LinkCreateBody): Date | undefined {
  return activeUntil === undefined ? undefined : new Date(activeUntil * 1000);
}

function assertEndsLater(body: LinkCreateBody, now: Date): void {
  if (hasEnded(endOf(body), now)) throw fieldRefusal('activeUntil', 'must be in the future');
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
    ...shopReturnOf(body),
    customSuccessText: body.customSuccessText ?? '',
    customDisabledText: body.customDisabledText ?? '',
    exceptionPolicy: policyText(body.exceptionPolicy),
    maxPayments: body.maxPayments ?? null,
    activeUntil: endOf(body) ?? null,
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
  const loaded = await ownLink(transaction, deps, changed);
  assertItemsFit(loaded.link.items);
  const detail = linkDetailOf(loaded.link, loaded.products, deps);
  const { merchantId: ownerId, linkId: objectId } = changed;
  await emit(transaction, deps, [
    { ownerId, type, objectId, ...linkEventData(detail), at: deps.clock.now() },
  ]);
  return loaded;
}
