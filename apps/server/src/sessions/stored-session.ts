import type { FeeModel, PaymentAmounts } from '@florin/protocol/fee.ts';
import type { LineItem } from '@florin/protocol/line-item.ts';
import type { MicroUsd } from '@florin/protocol/money.ts';
import type { Hex, Order } from '@florin/protocol/order.ts';
import type { PendingReason, SessionStatus, SessionType } from '@florin/protocol/session.ts';

/** A session as it stands in the database, parsed. */
export interface StoredSession {
  readonly sessionId: string;
  readonly merchantId: string;
  readonly sessionType: SessionType;
  /** The link's id for sessions begun from a link, else empty. */
  readonly businessId: string;
  readonly businessType: '' | 'payment_link';
  readonly clientCode: string;
  readonly accountId: string;
  readonly accountVersion: string;
  /** The merchant's settlement wallet, as it was when the session was created. */
  readonly recipient: Hex;
  readonly settlementToken: string;
  readonly feeModel: FeeModel;
  readonly amount: MicroUsd;
  readonly items: readonly LineItem[];
  readonly payerEmailRequired: boolean;
  readonly successUrl: string;
  /** The merchant's JSON, byte for byte. */
  readonly metadata: string;
  readonly metaData: Hex;
  readonly channelId: Hex;
  /** ai_checkout: the payer who signed the creation; else empty. */
  readonly intendedPayer: string;
  /** ai_checkout: the tokenId that the payer chose at creation; else empty. */
  readonly intendedToken: string;
  /** Custom links: the total that the payer chose. */
  readonly chosenTotal: MicroUsd | undefined;
  readonly expirationTime: Date;
  readonly signedOnce: boolean;
  readonly status: SessionStatus;
  readonly pendingReason: PendingReason | '';
  readonly payer: string;
  readonly payerEmail: string;
  readonly paidToken: string;
  readonly receiptId: string;
  readonly orderId: string;
  /** Paid by a deposit that was accepted after the session had expired. */
  readonly isLate: boolean;
  readonly initiateTx: string;
  readonly completeTx: string;
  readonly paymentSucceededAt: Date | undefined;
  readonly settlementSucceededAt: Date | undefined;
  /** What finally went back to the payer of the paid order. */
  readonly refundedAmount: MicroUsd;
  readonly createdAt: Date;
}

/** A session without what is sold: all that its moves and its page's progress hang on. */
export type SessionState = Omit<StoredSession, 'items' | 'metadata'>;

/** An order that the service has signed or, for deposits that may be late, signs when it collects them. */
export interface StoredOrder {
  readonly orderId: Hex;
  readonly sessionId: string;
  readonly chainId: number;
  /** The token that the payer pays with. */
  readonly tokenId: string;
  readonly payerEmail: string;
  readonly order: Order;
  /** The contract that takes the payment and settles it; in rows from before it was stored, empty. */
  readonly gateway: Hex | '';
  /** The vault that pays for it on the settlement chain, and no other ever does; empty when none pays, or as above. */
  readonly payoutVault: Hex | '';
  readonly amounts: PaymentAmounts;
  /** `0x` for orders that are only collected. */
  readonly signature: Hex;
}
