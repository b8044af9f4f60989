import type { FeeModel } from '@florin/protocol/fee.ts';
import type { LineItem } from '@florin/protocol/line-item.ts';
import { microUsd } from '@florin/protocol/money.ts';
import type { Hex } from '@florin/protocol/order.ts';
import type { PendingReason, SessionStatus, SessionType } from '@florin/protocol/session.ts';
import type { AutoReturn } from '@florin/protocol/shop-return.ts';
import type { SessionRow, SessionStateRow } from './session.sql.ts';
import type { SessionState, StoredSession } from './stored-session.ts';

/** Reads a row of `sessions`. */
export function parseSession(row: SessionRow): StoredSession {
  const items = (JSON.parse(row.line_items) as LineItem[]).map(inOrder);
  return { ...parseSessionState(row), items, metadata: row.metadata };
}

/** Reads a row without items and metadata. The schema's check constraints make the narrowing true. */
export function parseSessionState(row: SessionStateRow): SessionState {
  return {
    sessionId: row.session_id,
    merchantId: row.merchant_id,
    sessionType: row.session_type as SessionType,
    businessId: row.business_id,
    businessType: row.business_type as StoredSession['businessType'],
    clientCode: row.client_code,
    accountId: row.account_id,
    accountVersion: row.account_version,
    recipient: row.recipient as Hex,
    settlementToken: row.settlement_token,
    feeModel: row.fee_model as FeeModel,
    amount: microUsd(row.amount),
    payerEmailRequired: row.payer_email_required,
    successUrl: row.success_url,
    cancelUrl: row.cancel_url,
    autoReturn: row.auto_return as AutoReturn,
    customSuccessText: row.custom_success_text,
    metaData: row.meta_data as Hex,
    channelId: row.channel_id as Hex,
    intendedPayer: row.intended_payer,
    intendedToken: row.intended_token,
    chosenTotal: row.chosen_total === null ? undefined : microUsd(row.chosen_total),
    expirationTime: row.expiration_time,
    signedOnce: row.signed_once,
    status: row.status as SessionStatus,
    pendingReason: row.pending_reason as PendingReason | '',
    payer: row.payer,
    payerEmail: row.payer_email,
    paidToken: row.paid_token,
    receiptId: row.receipt_id,
    receiptNames: receiptNamesOf(row),
    orderId: row.order_id,
    isLate: row.is_late,
    initiateTx: row.initiate_tx,
    completeTx: row.complete_tx,
    paymentSucceededAt: row.payment_succeeded_at ?? undefined,
    settlementSucceededAt: row.settlement_succeeded_at ?? undefined,
    refundedAmount: microUsd(row.refunded_amount),
    shownOrderId: row.shown_order_id,
    createdAt: row.created_at,
  };
}

/** The names that a receipt keeps. No merchant has an empty name. */
export function receiptNamesOf(
  row: Pick<SessionStateRow, 'receipt_merchant_name' | 'receipt_legal_name'>,
): StoredSession['receiptNames'] {
  const { receipt_merchant_name: merchantName, receipt_legal_name: legalName } = row;
  return merchantName === '' ? undefined : { merchantName, legalName };
}

/** Old rows were jsonb, which does not keep the order of members. This restores the specification's. */
function inOrder(item: LineItem): LineItem {
  const { lineItemId, itemType, productId, quantity, unitPrice, productData } = item;
  const fields = { lineItemId, itemType, productId, quantity, unitPrice };
  if (productData === undefined) return fields;
  const { productName, productDescription, imageUrl, attributes, status } = productData;
  const data = { productName, productDescription, imageUrl, attributes };
  return { ...fields, productData: status === undefined ? data : { ...data, status } };
}
