import type { LineItem } from '@florin/protocol/line-item.ts';
import type { MicroUsd } from '@florin/protocol/money.ts';
import type { PendingReason, SessionStatus, SessionType } from '@florin/protocol/session.ts';
import type { ShopReturn } from '@florin/protocol/shop-return.ts';
import type { SessionTerms } from '#orders/stored-order.ts';

/** The merchant's names when a payment became final: a later change of theirs rewrites no receipt. */
export interface ReceiptNames {
  readonly merchantName: string;
  /** The name as in contracts; empty where the merchant gave none. */
  readonly legalName: string;
}

/** A session, parsed from its row. */
export interface StoredSession extends SessionTerms, ShopReturn {
  readonly sessionType: SessionType;
  readonly businessType: '' | 'payment_link';
  readonly clientCode: string;
  readonly accountVersion: string;
  readonly items: readonly LineItem[];
  readonly payerEmailRequired: boolean;
  readonly successUrl: string;
  /** Shown after payment; empty for sessions of links, which show their link's. */
  readonly customSuccessText: string;
  /** The merchant's JSON, byte for byte. */
  readonly metadata: string;
  /** ai_checkout: the payer who signed the creation; else empty. */
  readonly intendedPayer: string;
  /** ai_checkout: the tokenId that the payer chose at creation; else empty. */
  readonly intendedToken: string;
  readonly status: SessionStatus;
  readonly pendingReason: PendingReason | '';
  readonly payer: string;
  readonly payerEmail: string;
  readonly paidToken: string;
  readonly receiptId: string;
  /** What the receipt calls the merchant. Undefined before it exists, and for payments from before such names were kept. */
  readonly receiptNames: ReceiptNames | undefined;
  readonly orderId: string;
  /** Paid by a deposit that was accepted after the session expired. */
  readonly isLate: boolean;
  readonly initiateTx: string;
  readonly completeTx: string;
  readonly paymentSucceededAt: Date | undefined;
  readonly settlementSucceededAt: Date | undefined;
  /** What went back to the payer of the paid order, final. */
  readonly refundedAmount: MicroUsd;
  /** The order whose deposit address the session's pages show; empty: none. */
  readonly shownOrderId: string;
}

/** A session without items and metadata: enough for its moves and for its page's progress. */
export type SessionState = Omit<StoredSession, 'items' | 'metadata'>;
