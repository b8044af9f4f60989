import { Refusal } from '@florin/protocol/error.ts';
import type { EventType } from '@florin/protocol/event.ts';
import { moveProduct, referenceProducts } from '#catalog/product.ts';
import type { Transaction } from '#db/database.ts';
import { emit } from '#webhooks/outbox.ts';
import { lockActiveLinksOfProduct, lockLink, setLinksStatus } from './link.sql.ts';
import { type LinkDeps, linkDetails, ownLink } from './link.ts';
import { assertSellable } from './link-terms.ts';

/** Why a link is disabled; empty while it is active. */
type DisabledReason = '' | 'merchant' | 'product_archived';

/** Disables a link, with its event; one that is disabled already stays so silently. Refuses with 100101 or 100102. */
export async function disableLink(
  transaction: Transaction,
  deps: LinkDeps,
  request: { merchantId: string; linkId: string },
): Promise<void> {
  const { status } = await lockedLink(transaction, request);
  if (status === 'disabled') return;
  await changeLinks(transaction, deps, request.merchantId, [request.linkId], 'merchant');
}

/**
 * Enables a link, with its event; one that is active already stays so silently. Refuses with 100101, 100102, 100304
 * (a product of it is archived) or 100402 (its account is removed).
 */
export async function enableLink(
  transaction: Transaction,
  deps: LinkDeps,
  request: { merchantId: string; linkId: string },
): Promise<void> {
  const { merchantId, linkId } = request;
  const { link } = await ownLink(transaction, request);
  // Products are locked before links everywhere, so that enabling and archiving cannot wait for each other.
  const productIds = [
    ...new Set(link.items.map((item) => item.productId).filter((productId) => productId !== '')),
  ];
  const products = await referenceProducts(transaction, merchantId, productIds);
  const { status } = await lockedLink(transaction, request);
  if (status === 'active') return;
  if (link.account.status !== 'normal') throw new Refusal('account_removed', link.account.accountId);
  const archived = productIds.filter((productId) => products.get(productId)?.status === 'archived');
  if (archived.length > 0) throw new Refusal('product_not_active', archived.join(', '));
  assertSellable(productIds, products);
  await changeLinks(transaction, deps, merchantId, [linkId], '');
}

/**
 * Archives a product and disables every active link that shows it, each with its event. An archived product stays so
 * silently. Open sessions keep their snapshot and stay payable. Refuses with 100301 or 100306.
 */
export async function archiveProduct(
  transaction: Transaction,
  deps: LinkDeps,
  request: { merchantId: string; productId: string },
): Promise<void> {
  const { merchantId, productId } = request;
  const moved = await moveProduct(transaction, deps, { ...request, status: 'archived' });
  if (moved === undefined) return;
  const rows = await transaction.query(lockActiveLinksOfProduct, [merchantId, productId]);
  const linkIds = rows.map((row) => row.link_id);
  if (linkIds.length > 0) await changeLinks(transaction, deps, merchantId, linkIds, 'product_archived');
}

/** Unarchives a product, with its event; its links stay disabled. Refuses with 100301 or 100306. */
export async function unarchiveProduct(
  transaction: Transaction,
  deps: LinkDeps,
  request: { merchantId: string; productId: string },
): Promise<void> {
  await moveProduct(transaction, deps, { ...request, status: 'active' });
}

async function lockedLink(
  transaction: Transaction,
  request: { merchantId: string; linkId: string },
): Promise<{ status: string }> {
  const row = (await transaction.query(lockLink, [request.merchantId, request.linkId]))[0];
  if (row === undefined) throw new Refusal('link_not_found', request.linkId);
  if (row.status === 'deleted') throw new Refusal('link_archived', request.linkId);
  return row;
}

/** Sets the status of locked links: active without a reason, disabled with one. */
async function changeLinks(
  transaction: Transaction,
  deps: LinkDeps,
  merchantId: string,
  linkIds: readonly string[],
  reason: DisabledReason,
): Promise<void> {
  const now = deps.clock.now();
  const status = reason === '' ? 'active' : 'disabled';
  const type: EventType = reason === '' ? 'payment.link.enabled' : 'payment.link.disabled';
  await transaction.query(setLinksStatus, [linkIds, status, reason, now]);
  const details = await linkDetails(transaction, deps, linkIds);
  await emit(
    transaction,
    deps.random,
    details.map((link) => ({
      merchantId,
      type,
      objectId: link.linkId,
      dataJson: JSON.stringify({ link }),
      at: now,
    })),
  );
}
