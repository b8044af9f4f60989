import type { ExceptionPolicy } from '@florin/protocol/exception-policy.ts';
import type { FeeModel } from '@florin/protocol/fee.ts';
import type { ItemType, LineItem, ProductData } from '@florin/protocol/line-item.ts';
import type { LinkDisabledReason } from '@florin/protocol/link.ts';
import { microUsd } from '@florin/protocol/money.ts';
import type { Hex } from '@florin/protocol/order.ts';
import type { AutoReturn } from '@florin/protocol/shop-return.ts';
import type { ItemProduct } from '#catalog/product.ts';
import type { LinkItemRow, LinkRow } from './link.sql.ts';
import { doItemsFit, hasEnded } from './link-terms.ts';
import { linkVersionOf } from './link-version.ts';
import type { StoredLink } from './stored-link.ts';

/** Parses a link with its items and their current products, as it is at `now`, and computes its version. */
export function parseLink(
  row: LinkRow,
  items: readonly LinkItemRow[],
  products: ReadonlyMap<string, ItemProduct>,
  now: Date,
): StoredLink {
  const shownItems = items.map((item) => parseItem(item, row.link_name, products.get(item.product_id)));
  const unversioned: Omit<StoredLink, 'versionCode'> = {
    linkId: row.link_id,
    merchantId: row.merchant_id,
    linkType: row.link_type as StoredLink['linkType'],
    linkName: row.link_name,
    account: {
      accountId: row.account_id,
      accountName: row.account_name,
      accountAddress: row.account_address as Hex,
      version: row.account_version,
      status: row.account_status as StoredLink['account']['status'],
    },
    settlementToken: row.settlement_token,
    feeModel: row.fee_model as FeeModel,
    amount: microUsd(row.amount),
    payerEmailRequired: row.payer_email_required,
    successUrl: row.success_url,
    cancelUrl: row.cancel_url,
    autoReturn: row.auto_return as AutoReturn,
    customSuccessText: row.custom_success_text,
    customDisabledText: row.custom_disabled_text,
    exceptionPolicy: policyOf(row.exception_policy),
    maxPayments: row.max_payments ?? undefined,
    paymentCount: row.payment_count,
    activeUntil: row.active_until ?? undefined,
    ...statusOf(row, shownItems, now),
    items: shownItems,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
  return { ...unversioned, versionCode: linkVersionOf(unversioned) };
}

/** A link that is active in the database is disabled for payers while one of these reasons holds. */
function statusOf(
  row: LinkRow,
  items: readonly LineItem[],
  now: Date,
): Pick<StoredLink, 'status' | 'disabledReason'> {
  const status = row.status as StoredLink['status'];
  if (status === 'disabled') return { status, disabledReason: row.disabled_reason as LinkDisabledReason };
  if (status === 'deleted') return { status };
  if (hasEnded(row.active_until ?? undefined, now)) return { status: 'disabled', disabledReason: 'ended' };
  if (row.is_suspended) return { status: 'disabled', disabledReason: 'merchant_suspended' };
  if (!doItemsFit(items)) return { status: 'disabled', disabledReason: 'line_items_too_large' };
  return { status };
}

function parseItem(row: LinkItemRow, linkName: string, product: ItemProduct | undefined): LineItem {
  return {
    lineItemId: row.line_item_id,
    itemType: row.item_type as ItemType,
    productId: row.product_id,
    quantity: row.quantity,
    unitPrice: Number(row.unit_price),
    productData: product?.productData ?? namedOnly(linkName),
  };
}

/** An item without a product shows the link's name, so that payers and receipts never show an empty line. */
function namedOnly(linkName: string): ProductData {
  return { productName: linkName, productDescription: '', imageUrl: '', attributes: [] };
}

const policyFields = ['underpaidPpm', 'underpaidAmount', 'latePayment', 'lateHours'] as const;

/** Reads a stored policy, which was checked against its schema. jsonb does not keep the order of its members. */
export function policyOf(stored: unknown): ExceptionPolicy | undefined {
  if (stored === null) return undefined;
  const policy = stored as ExceptionPolicy;
  return Object.fromEntries(
    policyFields.filter((name) => name in policy).map((name) => [name, policy[name]]),
  );
}
