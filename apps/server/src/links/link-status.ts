import type { Transaction } from '@florin/pg';
import { fieldRefusal, Refusal } from '@florin/protocol/error.ts';
import { maxLineItemsBytes } from '@florin/protocol/line-item.ts';
import { moveIn } from '@florin/protocol/machine.ts';
import type { CatalogContext } from '#catalog/context.ts';
import { moveProduct, referenceProducts, updateProduct } from '#catalog/product.ts';
import { findAccount } from '#merchants/account.ts';
import { emit } from '#webhooks/outbox.ts';
import type { LinkContext } from './context.ts';
import { type LinkStatus, type LinkTrigger, linkMoves } from './link.machine.ts';
import {
  addLinkPayments,
  linkInOtherToken,
  linkOverLimit,
  linksOfProduct,
  lockAccount,
  lockActiveLinksOfAccount,
  lockActiveLinksOfProduct,
  lockEndedLinks,
  setLinksStatus,
  takeLinkPayments,
  takeLinkTurn,
} from './link.sql.ts';
import { linkEventData } from './link-json.ts';
import {
  type LockedLink,
  linkDetails,
  lockOwnLink,
  ownLink,
  productIdsOf,
  type ShownContext,
} from './link-lookup.ts';
import { assertItemsFit, assertSettlementToken, hasEnded, isLimitReached } from './link-terms.ts';

/** Links whose events are written together: each may have 64 KiB. */
const linksAtOnce = 16;

/** The reason for the status that a trigger sets; empty while the link is active. */
const reasonOf: Readonly<Record<LinkTrigger, string>> = {
  enable: '',
  disable: 'merchant',
  product_archived: 'product_archived',
  account_removed: 'account_removed',
  limit_reached: 'limit_reached',
  ended: 'ended',
  delete: 'deleted',
};

/** Disables a link, with its event. A disabled link stays disabled, without an event. Refuses with 100101 or 100102. */
export async function disableLink(
  transaction: Transaction,
  deps: Omit<LinkContext, 'isPayable'>,
  request: { merchantId: string; linkId: string },
): Promise<void> {
  const { status: from } = await lockOwnLink(transaction, request);
  await changeLinks(transaction, deps, { ...request, linkIds: [request.linkId], from, trigger: 'disable' });
}

/**
 * Enables a link, with its event. An active link stays active, without an event. Refuses with 100101, 100102, 100103 (it has
 * ended, or has had all its payments), 100304 (one of its products is archived), 100402 (its account is removed), 100404 (the account has its token no more) or 400101 (its line items exceed 64 KiB).
 */
export async function enableLink(
  transaction: Transaction,
  deps: LinkContext,
  request: { merchantId: string; linkId: string },
): Promise<void> {
  const { merchantId, linkId } = request;
  await transaction.query(takeLinkTurn, { of: linkId });
  const before = await ownLink(transaction, deps, request);
  // Every change of links locks in this order, which prevents deadlocks: turn, account, products, link.
  await transaction.query(lockAccount, { accountId: before.link.account.accountId });
  await referenceProducts(transaction, merchantId, productIdsOf(before.link.items));
  const locked = await lockOwnLink(transaction, request);
  const { link, products } = await ownLink(transaction, deps, request);
  assertItemsFit(link.items);
  assertWithinLimits(locked, deps.clock.now());
  if (locked.status === 'active') return;
  const account = await findAccount(transaction, merchantId, link.account.accountId);
  if (account?.status !== 'normal') throw new Refusal('account_removed', link.account.accountId);
  assertSettlementToken(deps.chains, link.settlementToken, account.settlementCurrencies);
  const archived = productIdsOf(link.items).filter(
    (productId) => products.get(productId)?.status !== 'active',
  );
  if (archived.length > 0) throw new Refusal('product_not_active', archived.join(', '));
  await changeLinks(transaction, deps, {
    ...{ merchantId, linkIds: [linkId] },
    ...{ from: locked.status, trigger: 'enable' },
  });
}

/** Refuses (100103) to enable a link that would be disabled again at once. */
function assertWithinLimits({ activeUntil, maxPayments, paymentCount }: LockedLink, now: Date): void {
  if (hasEnded(activeUntil, now)) throw new Refusal('link_not_active', 'ended: change activeUntil first');
  if (isLimitReached(maxPayments, paymentCount))
    throw new Refusal('link_not_active', `limit_reached: ${paymentCount} payments, change maxPayments first`);
}

/**
 * Counts payments that have become final, in the transaction that makes them final, and disables each active link that has
 * as many now as its limit allows, with its event. `linkIds` names the link of each payment.
 */
export async function countLinkPayments(
  transaction: Transaction,
  deps: ShownContext & Pick<LinkContext, 'random'>,
  linkIds: readonly string[],
): Promise<void> {
  if (linkIds.length === 0) return;
  for (const { link_id: linkId, merchant_id: merchantId } of await transaction.query(addLinkPayments, {
    linkIds,
  })) {
    const change = { merchantId, linkIds: [linkId], from: 'active', trigger: 'limit_reached' } as const;
    await changeLinks(transaction, deps, change);
  }
}

/** Counts payments no longer that a reorg took back for good. `linkIds` names the link of each payment. */
export async function uncountLinkPayments(
  transaction: Transaction,
  linkIds: readonly string[],
): Promise<void> {
  if (linkIds.length > 0) await transaction.query(takeLinkPayments, { linkIds });
}

/** Disables active links whose end has come, each with its event, and returns their number. */
export async function endLinks(
  transaction: Transaction,
  deps: ShownContext & Pick<LinkContext, 'random'>,
  limit: number,
): Promise<number> {
  const ended = await transaction.query(lockEndedLinks, { now: deps.clock.now(), limit });
  for (const { link_id: linkId, merchant_id: merchantId } of ended) {
    const change = { merchantId, linkIds: [linkId], from: 'active', trigger: 'ended' } as const;
    await changeLinks(transaction, deps, change);
  }
  return ended.length;
}

/**
 * Archives a product and disables every active link that shows it, each with its event. An archived product stays so
 * silently. Open sessions keep their snapshot and stay payable. Refuses with 100301 or 100306.
 */
export async function archiveProduct(
  transaction: Transaction,
  deps: LinkContext,
  request: { merchantId: string; productId: string },
): Promise<void> {
  const { merchantId, productId } = request;
  const moved = await moveProduct(transaction, deps, { ...request, trigger: 'archive' });
  if (moved === undefined) return;
  const rows = await transaction.query(lockActiveLinksOfProduct, { merchantId, productId });
  const locked = rows.map((row) => row.link_id);
  if (locked.length === 0) return;
  const linkIds = (await transaction.query(linksOfProduct, { linkIds: locked, productId })).map(
    (row) => row.link_id,
  );
  const change = { merchantId, linkIds, from: 'active', trigger: 'product_archived' } as const;
  if (linkIds.length > 0) await changeLinks(transaction, deps, change);
}

/**
 * Disables every active link of an account, each with its event, and returns their number. Called in the transaction that
 * removes the account.
 */
export async function disableLinksOfAccount(
  transaction: Transaction,
  deps: Omit<LinkContext, 'isPayable'>,
  request: { merchantId: string; accountId: string },
): Promise<number> {
  const { merchantId, accountId } = request;
  const rows = await transaction.query(lockActiveLinksOfAccount, { merchantId, accountId });
  const linkIds = rows.map((row) => row.link_id);
  const change = { merchantId, linkIds, from: 'active', trigger: 'account_removed' } as const;
  if (linkIds.length > 0) await changeLinks(transaction, deps, change);
  return linkIds.length;
}

/**
 * Refuses (400101) an account whose tokens leave one out in which an active link settles: that link could not be paid. Called
 * in the transaction that changes the account, so links that are being made wait or are seen.
 */
export async function assertLinksSettle(
  transaction: Transaction,
  account: { readonly accountId: string; readonly settlementCurrencies: readonly string[] },
): Promise<void> {
  const [link] = await transaction.query(linkInOtherToken, account);
  if (link === undefined) return;
  throw fieldRefusal(
    'settlementCurrencies',
    `must keep ${link.settlement_token}: ${link.link_id} settles in it`,
  );
}

/**
 * Changes a product as `updateProduct` does. Refuses (400101) a product with which the line items of a link would exceed
 * 64 KiB, because that link could not be paid any more.
 */
export async function changeProduct(
  transaction: Transaction,
  deps: CatalogContext,
  request: Parameters<typeof updateProduct>[2],
): Promise<void> {
  const { productId } = await updateProduct(transaction, deps, request);
  const [link] = await transaction.query(linkOverLimit, { productId, maxBytes: BigInt(maxLineItemsBytes) });
  if (link === undefined) return;
  const detail = `the line items of ${link.link_id}, which shows it, would take over ${maxLineItemsBytes} bytes as JSON`;
  throw new Refusal('field_invalid', { param: 'description', detail });
}

/** Unarchives a product, with its event; its links stay disabled. Refuses with 100301 or 100306. */
export async function unarchiveProduct(
  transaction: Transaction,
  deps: LinkContext,
  request: { merchantId: string; productId: string },
): Promise<void> {
  await moveProduct(transaction, deps, { ...request, trigger: 'unarchive' });
}

/**
 * Deletes a link for good. An active link is disabled first, with that event. Its sessions stay, and open ones stay
 * payable. Refuses with 100101, or 100102 when it is deleted already.
 */
export async function deleteLink(
  transaction: Transaction,
  deps: Omit<LinkContext, 'isPayable'>,
  request: { merchantId: string; linkId: string },
): Promise<void> {
  await disableLink(transaction, deps, request);
  const move = moveIn(linkMoves, 'disabled', 'delete');
  if (move === undefined) throw new Error('a disabled link refuses to be deleted');
  await transaction.query(setLinksStatus, {
    linkIds: [request.linkId],
    status: move.to,
    disabledReason: reasonOf.delete,
    updatedAt: deps.clock.now(),
  });
}

/** Moves locked links, which all have the status `from`, each with its event: not to `deleted`, in which a link has no view. */
export async function changeLinks(
  transaction: Transaction,
  deps: ShownContext & Pick<LinkContext, 'random'>,
  change: {
    readonly merchantId: string;
    readonly linkIds: readonly string[];
    readonly from: LinkStatus;
    readonly trigger: LinkTrigger;
  },
): Promise<void> {
  const { merchantId, linkIds, from: before, trigger } = change;
  const move = moveIn(linkMoves, before, trigger);
  if (move === undefined) throw new Error(`a link that is ${before} refuses ${trigger}`);
  const { to, event: type } = move;
  if (type === undefined) return;
  const now = deps.clock.now();
  await transaction.query(setLinksStatus, {
    linkIds,
    status: to,
    disabledReason: reasonOf[trigger],
    updatedAt: now,
  });
  for (let from = 0; from < linkIds.length; from += linksAtOnce) {
    const details = await linkDetails(transaction, deps, linkIds.slice(from, from + linksAtOnce));
    await emit(
      transaction,
      deps,
      details.map((link) => ({
        ownerId: merchantId,
        type,
        objectId: link.linkId,
        ...linkEventData(link),
        at: now,
      })),
    );
  }
}
