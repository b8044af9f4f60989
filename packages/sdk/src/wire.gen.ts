// Written by scripts/generate-sdk.ts.
import type { Usd } from './amount.ts';
import type { GivenMetadata, SessionMetadata } from './metadata.ts';

export interface Account {
  /** Prefix `acc_`. */
  accountId: string;
  /** Name given by the merchant or the operator. */
  accountName: string;
  /** Wallet that settlements go to. */
  accountAddress: string;
  accountType: 'EVM::ADDR';
  settlementCurrencies: string[];
  /** Distinguishes an account from a later one with the same address. */
  version: string;
  status: 'normal';
  /** How payments in the settlement token reach the wallet: `escrow`, settled after they are final; `direct`, in the payer’s own transaction. Empty: the installation’s default. */
  settlementMode: '' | 'escrow' | 'direct';
  /** YYYY-MM-DD HH:MM:SS, UTC. */
  createAt: string;
  /** YYYY-MM-DD HH:MM:SS, UTC. */
  updateAt: string;
}

export interface AccountChange {
  /** Prefix `acg_`. */
  changeId: string;
  /** `address`: the account gets another address. */
  kind: 'add' | 'address';
  /** `waiting` until `effectiveAt`; `refused`: it could not take effect any more. */
  status: 'waiting' | 'done' | 'cancelled' | 'refused';
  accountName: string;
  /** Wallet that settlements will go to. */
  accountAddress: string;
  /** The address that the account has before; empty for a wallet that is added, or when it is not known. */
  previousAddress: string;
  settlementCurrencies: string[];
  settlementMode: '' | 'escrow' | 'direct';
  /** Whether the wallet signed that settlements may go to it. */
  isProven: boolean;
  /** The account; empty while a wallet waits to become one. */
  accountId: string;
  /** YYYY-MM-DD HH:MM:SS, UTC. */
  effectiveAt: string;
  /** YYYY-MM-DD HH:MM:SS, UTC. */
  createAt: string;
}

export interface Branding {
  /** The hosted copy; empty when there is none. */
  logoUrl: string;
  /** The logo for dark backgrounds; empty: the logo on a white plate. */
  darkLogoUrl: string;
  /** A square icon, in place of a logo and in browsers’ tabs; empty: the first letter of the name. */
  iconUrl: string;
  /** Colour of buttons, exactly as it is, with black or white text by contrast; `#` and six hexadecimal digits, or empty for the page’s default. Links show it darker or lighter where it would be hard to read. */
  color: string;
  /** Colour behind the order; empty: the page’s default, which follows the device. */
  background: string;
  /** Of buttons, fields and notes, in pixels. */
  cornerRadius: number;
  /** A family of fonts that devices have: pages load none. */
  font: 'system' | 'humanist' | 'geometric' | 'rounded' | 'serif';
  /** On receipts and below the payment; empty: the merchant’s name. One line of visible characters, without bidi controls and with at most six combining marks in a row; spaces around it are dropped. */
  legalName: string;
  /** Where payers get help; empty: nowhere. */
  supportUrl: string;
  /** The merchant’s terms; empty: none. */
  termsUrl: string;
  /** How the merchant refunds; empty: nowhere. */
  refundUrl: string;
  /** The merchant’s privacy policy; empty: none. */
  privacyUrl: string;
  /** Origins of the merchant’s shops, such as `https://shop.example`. Their pages may frame the checkout and hear what became of a payment; every other page is refused. */
  embedOrigins: string[];
  /** YYYY-MM-DD HH:MM:SS, UTC; empty before the first update. */
  updateAt: string;
}

export interface BrandingUpdateRequest {
  logoUrl?: string | undefined;
  darkLogoUrl?: string | undefined;
  iconUrl?: string | undefined;
  /** Colour of buttons, exactly as it is, with black or white text by contrast; `#` and six hexadecimal digits, or empty for the page’s default. Links show it darker or lighter where it would be hard to read. */
  color?: string | undefined;
  /** Colour behind the order; empty: the page’s default, which follows the device. */
  background?: string | undefined;
  /** Of buttons, fields and notes, in pixels. */
  cornerRadius?: number | undefined;
  /** A family of fonts that devices have: pages load none. */
  font?: 'system' | 'humanist' | 'geometric' | 'rounded' | 'serif' | undefined;
  /** On receipts and below the payment; empty: the merchant’s name. One line of visible characters, without bidi controls and with at most six combining marks in a row; spaces around it are dropped. */
  legalName?: string | undefined;
  /** Where payers get help; empty: nowhere. */
  supportUrl?: string | undefined;
  /** The merchant’s terms; empty: none. */
  termsUrl?: string | undefined;
  /** How the merchant refunds; empty: nowhere. */
  refundUrl?: string | undefined;
  /** The merchant’s privacy policy; empty: none. */
  privacyUrl?: string | undefined;
  /** Origins of the merchant’s shops, such as `https://shop.example`. Their pages may frame the checkout and hear what became of a payment; every other page is refused. */
  embedOrigins?: readonly string[] | undefined;
  /** `updateAt` of the branding as it was read. Refused with 100308 if the branding changed since. */
  ifUpdateAt?: string | undefined;
  /** Taken and ignored. */
  updateAt?: unknown;
}

export interface Capabilities {
  supportedTokens: {
    /** `<chain>::<token>`. */
    tokenId: string;
    symbol: string;
    chainId: string;
    decimals: number;
  }[];
  paymentCapabilities: { [name: string]: {
    tokenId: string;
    crosschain: boolean;
    feeRatePPM: number;
    /** Micro-USD: the least price that is accepted with feeModel 1. */
    minPaymentValue: Usd;
    /** Micro-USD: the highest price that is accepted. */
    maxPaymentValue: Usd;
    /** Time from the payment to the merchant in seconds, as measured on the chains over the last minutes; for accounts that leave the settlement mode to the installation. */
    etaSeconds: number;
    /** When a payment counts as final on the payer’s chain. */
    finality: string;
    /** Ways to pay with this token. `transaction` and `eip5792`: by the payer’s own wallet; `eip3009` and `permit2`: by a signature, without gas; `deposit`: a plain transfer to an address; `x402`. */
    methods: string[];
    /** `delayed`: payments take longer than usual. `unavailable`: new ones are refused with 900401. */
    status: 'available' | 'delayed' | 'unavailable';
    /** `chain_halted`, `chain_lagging`, `chain_not_followed`, `chain_unreachable` (no node has answered for 20 seconds), `chain_unverified` (not compared with the configuration yet), `token_paused` (by its issuer) or `token_stopped` (by the operator); empty while available. */
    statusReason: string;
  }[] };
}

export interface Delivery {
  /** Prefix `dlv_`. */
  deliveryId: string;
  /** Prefix `evt_`. */
  eventId: string;
  /** Such as `session.paid`. */
  eventType: string;
  status: 'pending' | 'succeeded' | 'failed' | 'skipped';
  /** The last 20, oldest first. */
  attempts: {
    /** Counts from 1, and continues through replays. */
    attempt: number;
    /** YYYY-MM-DD HH:MM:SS, UTC. */
    at: string;
    /** null without an answer. */
    httpStatus: number | null;
    latencyMs: number;
    /** Empty after a success. */
    error: string;
    /** The first 4 KiB of the answer. */
    responseBody: string;
  }[];
  /** YYYY-MM-DD HH:MM:SS, UTC; null until then. */
  nextAttemptAt: string | null;
  /** YYYY-MM-DD HH:MM:SS, UTC. */
  createAt: string;
}

export interface DeliveryDetail {
  /** Prefix `dlv_`. */
  deliveryId: string;
  /** Prefix `evt_`. */
  eventId: string;
  /** Such as `session.paid`. */
  eventType: string;
  status: 'pending' | 'succeeded' | 'failed' | 'skipped';
  /** Prefix `wkid_`. */
  webhookId: string;
  /** The body, byte for byte. Empty for keys without events:read; redacted like events. */
  body: string;
  /** The last 20, oldest first. */
  attempts: {
    /** Counts from 1, and continues through replays. */
    attempt: number;
    /** YYYY-MM-DD HH:MM:SS, UTC. */
    at: string;
    /** null without an answer. */
    httpStatus: number | null;
    latencyMs: number;
    /** Empty after a success. */
    error: string;
    /** The first 4 KiB of the answer. */
    responseBody: string;
    request: {
      /** Without the values of its query for keys without `webhooks:write`. Empty for attempts of older versions, which did not store it. */
      url: string;
      /** As sent, without webhook-signature: a reader could use it to impersonate the sender. */
      headers: { [name: string]: string };
    };
    /** What differs from the previous attempt. */
    changes: ('url' | 'httpStatus' | 'error' | 'responseBody')[];
  }[];
  /** YYYY-MM-DD HH:MM:SS, UTC; null until then. */
  nextAttemptAt: string | null;
  /** YYYY-MM-DD HH:MM:SS, UTC. */
  createAt: string;
}

export interface LineItem {
  /** Prefix `li_`. */
  lineItemId: string;
  itemType: 'product' | 'one_time' | 'user_priced';
  /** Empty for items without a product. */
  productId: string;
  quantity: number;
  /** Micro-USD of one unit. */
  unitPrice: Usd;
  productData?: ProductData;
}

export interface ListFilter {
  /** `nextCursor` of the page before; page 1 then begins behind it. */
  after?: string | undefined;
  /** Entries of one page: 1 to 100, the default. */
  size?: number | undefined;
}

export interface PaymentException {
  /** Prefix `exc_`. */
  exceptionId: string;
  kind: 'duplicate' | 'duplicate_settled' | 'refunded' | 'reclaimed' | 'unsettled' | 'underpaid' | 'overpaid' | 'late' | 'wrong_token';
  orderId: string;
  payer: string;
  tokenId: string;
  /** Smallest token unit. When more of the same kind comes before the money goes back, the amount grows and session.exception is sent again. */
  amountInToken: string;
  /** Empty when no single transaction shows it. */
  txHash: string;
  /** Your decision, or that of the link’s policy; empty while there is none. */
  decision: '' | 'accept' | 'refund';
  /** Until when POST /exception/accept is possible; empty when there is nothing to decide. */
  decideBy: string;
  sessionId: string;
  /** resolved: the money is back with its payer, was settled or accepted as the payment, is gone, or you have marked the exception as resolved. */
  status: 'open' | 'resolved';
  /** The transaction that returned the money, settled it or made it the payment, else empty. */
  resolvedTx: string;
  /** A reorg below finality took back the money, and no block has it. If it returns, the exception is open again and session.exception is sent once more. */
  isGone: boolean;
  /** YYYY-MM-DD HH:MM:SS, UTC. */
  createAt: string;
  /** YYYY-MM-DD HH:MM:SS, UTC. */
  updateAt: string;
}

export interface PaymentLink {
  /** Prefix `lnk_`. */
  linkId: string;
  linkType: 'fixed' | 'custom';
  /** At most 100 characters. */
  linkName: string;
  /** Collection account. */
  accountId: string;
  /** Token id: `<chain>::<token>`. */
  settlementToken: string;
  /** 1: the merchant pays the fee; 2: the payer pays the fee. */
  feeModel: 1 | 2;
  /** Micro-USD: the sum of the line items; 0 for custom links. */
  amount: Usd;
  /** 1: yes; 0: no. */
  payerEmailRequired: 0 | 1;
  /** Where the payer is sent after payment; `{SESSION_ID}` is replaced, and `florin_status` added. Never proof of payment. */
  successUrl: string;
  /** Where payers go back to who have not paid: while the session is open, and once it has expired or was cancelled. `{SESSION_ID}` is replaced, and `florin_status` added: `open`, `expired` or `cancelled`. Absent without one. */
  cancelUrl?: string;
  /** `paid`: five seconds after the payment is final, the page opens successUrl, unless the payer stops it; `never`: only the payer does. Absent where it is paid. */
  autoReturn?: 'never' | 'paid';
  /** Shown after payment. */
  customSuccessText: string;
  /** Shown while the link is disabled. */
  customDisabledText: string;
  /** Hosted page of the link. */
  linkUrl: string;
  status: 'active' | 'disabled';
  /** Hash of everything that a payer agrees to; each real change gives a new one. */
  versionCode: string;
  /** The link’s policy for short or late deposits; absent when it has none. */
  exceptionPolicy?: {
    /** A deposit that lacks at most this share of the total counts as paid; parts per million. */
    underpaidPpm?: number;
    /** The same in Micro-USD; the smaller of both counts, and never more than the operator allows. */
    underpaidAmount?: Usd;
    /** A deposit after the session has expired: `return` sends it back, `accept` makes it the payment, `ask` waits for POST /exception/accept or /exception/refund. */
    latePayment?: 'return' | 'ask' | 'accept';
    /** Hours after the session’s end in which a deposit may still be accepted; a deposit that is not accepted goes back after them. */
    lateHours?: number;
  };
  /** The link is disabled at so many final payments; absent without this limit. */
  maxPayments?: number;
  /** Final payments of the link so far; present with maxPayments. */
  paymentCount?: number;
  /** Unix seconds: the link is disabled from then on; absent without an end. */
  activeUntil?: number;
  /** Why the link is disabled; absent while it is active. */
  disabledReason?: 'merchant' | 'product_archived' | 'account_removed' | 'limit_reached' | 'ended' | 'merchant_suspended' | 'line_items_too_large';
  /** YYYY-MM-DD HH:MM:SS, UTC. */
  createAt: string;
  /** YYYY-MM-DD HH:MM:SS, UTC. */
  updateAt: string;
  lineItems: {
    items: LineItem[];
  };
}

export interface PaymentLinkCreateRequest {
  linkType: 'fixed' | 'custom';
  /** One line of visible characters, without bidi controls and with at most six combining marks in a row; spaces around it are dropped. */
  linkName: string;
  accountId: string;
  /** Token id: `<chain>::<token>`. */
  settlementToken: string;
  /** 1: the merchant pays the fee; 2: the payer pays the fee. */
  feeModel: 1 | 2;
  lineItems: readonly {
    /** product in a fixed link, user_priced in a custom link; anything else is refused with 100105. */
    itemType: 'product' | 'one_time' | 'user_priced';
    productId?: string | undefined;
    quantity?: number | undefined;
    /** Micro-USD. A product item needs it; a user_priced item leaves it out or has 0. */
    unitPrice?: Usd | undefined;
  }[];
  /** 1: yes; 0: no. */
  payerEmailRequired?: 0 | 1 | undefined;
  successUrl?: string | undefined;
  /** Where payers go back to who have not paid: while the session is open, and once it has expired or was cancelled. `{SESSION_ID}` is replaced, and `florin_status` added: `open`, `expired` or `cancelled`. */
  cancelUrl?: string | undefined;
  /** `paid`: five seconds after the payment is final, the page opens successUrl, unless the payer stops it; `never`: only the payer does. Default: paid. */
  autoReturn?: 'never' | 'paid' | undefined;
  customSuccessText?: string | undefined;
  customDisabledText?: string | undefined;
  exceptionPolicy?: {
    /** A deposit that lacks at most this share of the total counts as paid; parts per million. */
    underpaidPpm?: number | undefined;
    /** The same in Micro-USD; the smaller of both counts, and never more than the operator allows. */
    underpaidAmount?: Usd | undefined;
    /** A deposit after the session has expired: `return` sends it back, `accept` makes it the payment, `ask` waits for POST /exception/accept or /exception/refund. */
    latePayment?: 'return' | 'ask' | 'accept' | undefined;
    /** Hours after the session’s end in which a deposit may still be accepted; a deposit that is not accepted goes back after them. */
    lateHours?: number | undefined;
  } | undefined;
  /** Final payments after which the link is disabled (`limit_reached`). Open sessions stay payable, so there can be more. */
  maxPayments?: number | undefined;
  /** Unix seconds: the link is disabled from then on (`ended`), open sessions stay payable. In the future, or as it is. */
  activeUntil?: number | undefined;
}

export interface PaymentLinkCreated {
  /** Prefix `lnk_`. */
  linkId: string;
  linkType: 'fixed' | 'custom';
  /** At most 100 characters. */
  linkName: string;
  /** Collection account. */
  accountId: string;
  /** Token id: `<chain>::<token>`. */
  settlementToken: string;
  /** 1: the merchant pays the fee; 2: the payer pays the fee. */
  feeModel: 1 | 2;
  /** Micro-USD: the sum of the line items; 0 for custom links. */
  amount: Usd;
  /** 1: yes; 0: no. */
  payerEmailRequired: 0 | 1;
  /** Where the payer is sent after payment; `{SESSION_ID}` is replaced, and `florin_status` added. Never proof of payment. */
  successUrl: string;
  /** Where payers go back to who have not paid: while the session is open, and once it has expired or was cancelled. `{SESSION_ID}` is replaced, and `florin_status` added: `open`, `expired` or `cancelled`. Absent without one. */
  cancelUrl?: string;
  /** `paid`: five seconds after the payment is final, the page opens successUrl, unless the payer stops it; `never`: only the payer does. Absent where it is paid. */
  autoReturn?: 'never' | 'paid';
  /** Shown after payment. */
  customSuccessText: string;
  /** Shown while the link is disabled. */
  customDisabledText: string;
  /** Hosted page of the link. */
  linkUrl: string;
  status: 'active' | 'disabled';
  /** Hash of everything that a payer agrees to; each real change gives a new one. */
  versionCode: string;
  /** The link’s policy for short or late deposits; absent when it has none. */
  exceptionPolicy?: {
    /** A deposit that lacks at most this share of the total counts as paid; parts per million. */
    underpaidPpm?: number;
    /** The same in Micro-USD; the smaller of both counts, and never more than the operator allows. */
    underpaidAmount?: Usd;
    /** A deposit after the session has expired: `return` sends it back, `accept` makes it the payment, `ask` waits for POST /exception/accept or /exception/refund. */
    latePayment?: 'return' | 'ask' | 'accept';
    /** Hours after the session’s end in which a deposit may still be accepted; a deposit that is not accepted goes back after them. */
    lateHours?: number;
  };
  /** The link is disabled at so many final payments; absent without this limit. */
  maxPayments?: number;
  /** Final payments of the link so far; present with maxPayments. */
  paymentCount?: number;
  /** Unix seconds: the link is disabled from then on; absent without an end. */
  activeUntil?: number;
  /** Why the link is disabled; absent while it is active. */
  disabledReason?: 'merchant' | 'product_archived' | 'account_removed' | 'limit_reached' | 'ended' | 'merchant_suspended' | 'line_items_too_large';
  /** YYYY-MM-DD HH:MM:SS, UTC. */
  createAt: string;
  /** YYYY-MM-DD HH:MM:SS, UTC. */
  updateAt: string;
  lineItems: {
    items: LineItem[];
    lineItems: {
      items: LineItem[];
    };
    /** Micro-USD: the sum of the line items. */
    amount: Usd;
  };
}

export interface PaymentLinkDetail {
  /** Prefix `lnk_`. */
  linkId: string;
  linkType: 'fixed' | 'custom';
  /** At most 100 characters. */
  linkName: string;
  /** Collection account. */
  accountId: string;
  /** Token id: `<chain>::<token>`. */
  settlementToken: string;
  /** 1: the merchant pays the fee; 2: the payer pays the fee. */
  feeModel: 1 | 2;
  /** Micro-USD: the sum of the line items; 0 for custom links. */
  amount: Usd;
  /** 1: yes; 0: no. */
  payerEmailRequired: 0 | 1;
  /** Where the payer is sent after payment; `{SESSION_ID}` is replaced, and `florin_status` added. Never proof of payment. */
  successUrl: string;
  /** Where payers go back to who have not paid: while the session is open, and once it has expired or was cancelled. `{SESSION_ID}` is replaced, and `florin_status` added: `open`, `expired` or `cancelled`. Absent without one. */
  cancelUrl?: string;
  /** `paid`: five seconds after the payment is final, the page opens successUrl, unless the payer stops it; `never`: only the payer does. Absent where it is paid. */
  autoReturn?: 'never' | 'paid';
  /** Shown after payment. */
  customSuccessText: string;
  /** Shown while the link is disabled. */
  customDisabledText: string;
  /** Hosted page of the link. */
  linkUrl: string;
  status: 'active' | 'disabled';
  /** Hash of everything that a payer agrees to; each real change gives a new one. */
  versionCode: string;
  /** The link’s policy for short or late deposits; absent when it has none. */
  exceptionPolicy?: {
    /** A deposit that lacks at most this share of the total counts as paid; parts per million. */
    underpaidPpm?: number;
    /** The same in Micro-USD; the smaller of both counts, and never more than the operator allows. */
    underpaidAmount?: Usd;
    /** A deposit after the session has expired: `return` sends it back, `accept` makes it the payment, `ask` waits for POST /exception/accept or /exception/refund. */
    latePayment?: 'return' | 'ask' | 'accept';
    /** Hours after the session’s end in which a deposit may still be accepted; a deposit that is not accepted goes back after them. */
    lateHours?: number;
  };
  /** The link is disabled at so many final payments; absent without this limit. */
  maxPayments?: number;
  /** Final payments of the link so far; present with maxPayments. */
  paymentCount?: number;
  /** Unix seconds: the link is disabled from then on; absent without an end. */
  activeUntil?: number;
  /** Why the link is disabled; absent while it is active. */
  disabledReason?: 'merchant' | 'product_archived' | 'account_removed' | 'limit_reached' | 'ended' | 'merchant_suspended' | 'line_items_too_large';
  /** YYYY-MM-DD HH:MM:SS, UTC. */
  createAt: string;
  /** YYYY-MM-DD HH:MM:SS, UTC. */
  updateAt: string;
  lineItems: {
    items: LineItem[];
  };
  accountName: string;
  accountAddress: string;
  settlementTokenInfo: SettlementTokenInfo;
}

export interface PaymentLinkUpdateRequest {
  linkId: string;
  linkType: 'fixed' | 'custom';
  /** One line of visible characters, without bidi controls and with at most six combining marks in a row; spaces around it are dropped. */
  linkName: string;
  accountId: string;
  /** Token id: `<chain>::<token>`. */
  settlementToken: string;
  /** 1: the merchant pays the fee; 2: the payer pays the fee. */
  feeModel: 1 | 2;
  lineItems: readonly {
    /** product in a fixed link, user_priced in a custom link; anything else is refused with 100105. */
    itemType: 'product' | 'one_time' | 'user_priced';
    productId?: string | undefined;
    quantity?: number | undefined;
    /** Micro-USD. A product item needs it; a user_priced item leaves it out or has 0. */
    unitPrice?: Usd | undefined;
    /** Taken and ignored. */
    lineItemId?: unknown;
    /** Taken and ignored. */
    productData?: unknown;
  }[] | {
    items: readonly {
      /** product in a fixed link, user_priced in a custom link; anything else is refused with 100105. */
      itemType: 'product' | 'one_time' | 'user_priced';
      productId?: string | undefined;
      quantity?: number | undefined;
      /** Micro-USD. A product item needs it; a user_priced item leaves it out or has 0. */
      unitPrice?: Usd | undefined;
      /** Taken and ignored. */
      lineItemId?: unknown;
      /** Taken and ignored. */
      productData?: unknown;
    }[];
  };
  /** 1: yes; 0: no. */
  payerEmailRequired?: 0 | 1 | undefined;
  successUrl?: string | undefined;
  /** Where payers go back to who have not paid: while the session is open, and once it has expired or was cancelled. `{SESSION_ID}` is replaced, and `florin_status` added: `open`, `expired` or `cancelled`. */
  cancelUrl?: string | undefined;
  /** `paid`: five seconds after the payment is final, the page opens successUrl, unless the payer stops it; `never`: only the payer does. Default: paid. */
  autoReturn?: 'never' | 'paid' | undefined;
  customSuccessText?: string | undefined;
  customDisabledText?: string | undefined;
  exceptionPolicy?: {
    /** A deposit that lacks at most this share of the total counts as paid; parts per million. */
    underpaidPpm?: number | undefined;
    /** The same in Micro-USD; the smaller of both counts, and never more than the operator allows. */
    underpaidAmount?: Usd | undefined;
    /** A deposit after the session has expired: `return` sends it back, `accept` makes it the payment, `ask` waits for POST /exception/accept or /exception/refund. */
    latePayment?: 'return' | 'ask' | 'accept' | undefined;
    /** Hours after the session’s end in which a deposit may still be accepted; a deposit that is not accepted goes back after them. */
    lateHours?: number | undefined;
  } | undefined;
  /** Final payments after which the link is disabled (`limit_reached`). Open sessions stay payable, so there can be more. */
  maxPayments?: number | undefined;
  /** Unix seconds: the link is disabled from then on (`ended`), open sessions stay payable. In the future, or as it is. */
  activeUntil?: number | undefined;
  /** `updateAt` of the link as it was read. Refused with 100104 if the link changed since. */
  ifUpdateAt?: string | undefined;
  /** Taken and ignored. */
  amount?: unknown;
  /** Taken and ignored. */
  linkUrl?: unknown;
  /** Taken and ignored. */
  status?: unknown;
  /** Taken and ignored. */
  versionCode?: unknown;
  /** Taken and ignored. */
  createAt?: unknown;
  /** Taken and ignored. */
  updateAt?: unknown;
  /** Taken and ignored. */
  accountName?: unknown;
  /** Taken and ignored. */
  accountAddress?: unknown;
  /** Taken and ignored. */
  settlementTokenInfo?: unknown;
  /** Taken and ignored. */
  paymentCount?: unknown;
  /** Taken and ignored. */
  disabledReason?: unknown;
}

export interface Prerequisite {
  purpose: 'reset_allowance' | 'approve_exact_amount';
  description: string;
  txRequest: TransactionRequest;
}

export interface Product {
  /** Prefix `prd_`. */
  productId: string;
  /** At most 100 characters. */
  name: string;
  /** At most 1000 characters. */
  description: string;
  /** The hosted copy; empty when there is none. */
  imageUrl: string;
  /** none: no image was named. hosted: imageUrl shows it. pending: the download failed and is retried. failed: it is not retried any more. */
  imageStatus: 'none' | 'hosted' | 'pending' | 'failed';
  /** Why there is no image while pending or failed; else empty. */
  imageReason: string;
  status: 'active' | 'archived';
  commonPrices: Usd[];
  attributes: {
    name: string;
    value: string;
  }[];
  /** YYYY-MM-DD HH:MM:SS, UTC. */
  createAt: string;
  /** YYYY-MM-DD HH:MM:SS, UTC. */
  updateAt: string;
}

export interface ProductCreateRequest {
  /** One line of visible characters, without bidi controls and with at most six combining marks in a row; spaces around it are dropped. */
  name: string;
  commonPrices: readonly Usd[];
  description?: string | undefined;
  imageUrl?: string | undefined;
  attributes?: readonly {
    /** One line of visible characters, without bidi controls and with at most six combining marks in a row; spaces around it are dropped. */
    name: string;
    value: string;
  }[] | undefined;
}

export interface ProductData {
  /** What the payer reads. */
  productName: string;
  /** Empty when there is none. */
  productDescription: string;
  /** Hosted image; empty when there is none. */
  imageUrl: string;
  attributes: {
    name: string;
    value: string;
  }[];
  status?: string;
}

export interface ProductUpdateRequest {
  productId: string;
  /** One line of visible characters, without bidi controls and with at most six combining marks in a row; spaces around it are dropped. */
  name: string;
  commonPrices: readonly Usd[];
  description?: string | undefined;
  imageUrl?: string | undefined;
  attributes?: readonly {
    /** One line of visible characters, without bidi controls and with at most six combining marks in a row; spaces around it are dropped. */
    name: string;
    value: string;
  }[] | undefined;
  /** `updateAt` of the product as it was read. Refused with 100307 if the product changed since. */
  ifUpdateAt?: string | undefined;
  /** Taken and ignored. */
  status?: unknown;
  /** Taken and ignored. */
  imageStatus?: unknown;
  /** Taken and ignored. */
  imageReason?: unknown;
  /** Taken and ignored. */
  createAt?: unknown;
  /** Taken and ignored. */
  updateAt?: unknown;
}

export interface RaisedException {
  /** Prefix `exc_`. */
  exceptionId: string;
  kind: 'duplicate' | 'duplicate_settled' | 'refunded' | 'reclaimed' | 'unsettled' | 'underpaid' | 'overpaid' | 'late' | 'wrong_token';
  orderId: string;
  payer: string;
  tokenId: string;
  /** Smallest token unit. When more of the same kind comes before the money goes back, the amount grows and session.exception is sent again. */
  amountInToken: string;
  /** Empty when no single transaction shows it. */
  txHash: string;
  /** Your decision, or that of the link’s policy; empty while there is none. */
  decision: '' | 'accept' | 'refund';
  /** Until when POST /exception/accept is possible; empty when there is nothing to decide. */
  decideBy: string;
}

export type Refund = {
  /** Prefix `rfd_`. */
  refundId: string;
  /** The paid session. */
  sessionId: string;
  /** The payment that goes back: the one that paid the session, or a second one. */
  orderId: string;
  /** The exception `duplicate_settled` of a second payment; empty for the payment that paid the session. */
  exceptionId: string;
  /** Micro-USD. */
  amount: Usd;
  status: 'requires_signature' | 'pending' | 'completed' | 'failed' | 'cancelled';
  /** The merchant's own words, else empty. Empty also for a refund that began completed: a wallet returned the money through the gateway although no refund waited for it. */
  reason: string;
  /** The transaction that returned the money; empty until completed. After `refund.reopened` the lost one, which may still return it. */
  txHash: string;
  /** YYYY-MM-DD HH:MM:SS, UTC: when you cancelled it, else empty. Beside `completed`: a transaction that was signed before paid it. */
  cancelledAt: string;
  /** YYYY-MM-DD HH:MM:SS, UTC. */
  createAt: string;
  /** YYYY-MM-DD HH:MM:SS, UTC. */
  updateAt: string;
} & ({
  /** Micro-USD of the payment that went back so far, final on chain. Sign only while `refundedOf(orderId)` of the gateway says the same. Only with txRequest. */
  refundedAmount: Usd;
  /** What the wallet that sends txRequest must hold: the token that the payer paid, on the chain of the payment. It may differ from the token and chain of your settlement. Check the balance before you send the prerequisites: with less, txRequest reverts with TransferFailed (0x39f1c8d9). Only with txRequest. */
  requiredBalance: {
    /** Token id: `<chain>::<token>`. */
    tokenId: string;
    chainId: string;
    tokenAddress: string;
    /** In the smallest token unit. */
    amountInToken: string;
  };
  txRequest: TransactionRequest;
  /** Transactions to send before txRequest, in order: they let the gateway take exactly the amount. txRequest and what is there only with it are there while the status is requires_signature, unless the service cannot vouch for the payment: then tell the operator. */
  prerequisites: Prerequisite[];
} | {
  refundedAmount?: undefined;
  requiredBalance?: undefined;
  txRequest?: undefined;
  prerequisites?: undefined;
});

export interface RefundCreateRequest {
  sessionId: string;
  /** An open exception `duplicate_settled` of the session: returns that second payment instead of the one that paid it. */
  exceptionId?: string | undefined;
  /** Micro-USD; by default the rest of the payment, without the refunds that wait for a signature. Before the settlement only the whole payment can go back. */
  amount?: Usd | undefined;
  reason?: string | undefined;
}

export interface RefundFilter {
  /** `nextCursor` of the page before; page 1 then begins behind it. */
  after?: string | undefined;
  /** Of this session alone. */
  sessionId?: string | undefined;
  /** Entries of one page: 1 to 100, the default. */
  size?: number | undefined;
}

export interface Report {
  /** Prefix `rpt_`. */
  reportId: string;
  type: 'settlements' | 'payments' | 'fees' | 'refunds';
  format: 'csv' | 'json';
  from: number;
  to: number;
  /** Empty: every account. */
  accountId: string;
  status: 'pending' | 'ready' | 'failed';
  /** Percent. */
  progress: number;
  /** Why status is `failed`, else empty. */
  reason: string;
  /** The file, for who knows this address; empty until status is `ready`. */
  url: string;
  /** Unix seconds: the file is deleted then. */
  expiresAt: number;
  /** Rows so far. */
  rows: number;
  /** Sums of all rows, as decimal texts. Columns that the type does not have are 0. */
  totals: {
    /** The sum of totalValue, in Micro-USD. */
    totalValue: string;
    /** Of feeValue, in Micro-USD. */
    feeValue: string;
    /** Of netValue, in Micro-USD. */
    netValue: string;
  };
  /** YYYY-MM-DD HH:MM:SS, UTC. */
  createAt: string;
}

export interface ReportCreateRequest {
  type: 'settlements' | 'payments' | 'fees' | 'refunds';
  /** Unix seconds. The first second of the report. */
  from: number;
  /** Unix seconds. The second behind the last one. Not in the future. */
  to: number;
  accountId?: string | undefined;
  format: 'csv' | 'json';
}

export interface Session {
  /** Prefix `sess_`. */
  sessionId: string;
  sessionType: 'chk' | 'ai_checkout' | 'lnk';
  /** The payment link’s id for `lnk` and `ai_checkout` sessions, else empty. */
  businessId: string;
  /** `payment_link` for `lnk` and `ai_checkout` sessions, else empty. */
  businessType: string;
  /** Secret of the hosted page; `****` for restricted keys. */
  clientCode: string;
  /** Wallet that paid; by x402 of a link the one that signed for it, although anyone may have brought the money; empty until paid. */
  payer: string;
  /** Empty until paid, and for keys without `payer_pii:read`. */
  payerEmail: string;
  /** 1: yes; 0: no. */
  payerEmailRequired: 0 | 1;
  /** Token id; empty until paid. */
  paidToken: string;
  /** Empty until paid. */
  receiptId: string;
  /** Collection wallet. */
  recipient: string;
  /** Token id: `<chain>::<token>`. */
  settlementToken: string;
  /** 1: the merchant pays the fee; 2: the payer pays the fee. */
  feeModel: 1 | 2;
  /** Micro-USD: the sum of the line items. */
  amount: Usd;
  lineItems: {
    items: LineItem[];
  };
  /** Unix seconds: a session that is unpaid then expires. With signedOnce 1 it expires a little later, once no signed order can be paid any more. */
  expirationTime: number;
  /** Where the payer is sent after payment; `{SESSION_ID}` is replaced, and `florin_status` added: `processing` from the payment’s first block on, `paid` once it is final. Never proof of payment. */
  successUrl: string;
  /** Where payers go back to who have not paid: while the session is open, and once it has expired or was cancelled. `{SESSION_ID}` is replaced, and `florin_status` added: `open`, `expired` or `cancelled`. Absent without one. */
  cancelUrl?: string;
  /** `paid`: five seconds after the payment is final, the page opens successUrl, unless the payer stops it; `never`: only the payer does. Absent where it is paid. */
  autoReturn?: 'never' | 'paid';
  /** Shown after payment; absent without one, and for sessions of links. */
  customSuccessText?: string;
  /** Hosted checkout page; the fragment holds clientCode. */
  paymentUrl: string;
  /** 1: yes; 0: no. */
  signedOnce: 0 | 1;
  /** Hash of the payment transaction; empty until it is seen. */
  initiateTx: string;
  /** Hash of the settlement transaction; empty until it is final. */
  completeTx: string;
  /** YYYY-MM-DD HH:MM:SS, UTC; null until then. */
  paymentSucceededTime: string | null;
  /** YYYY-MM-DD HH:MM:SS, UTC; null until then. */
  settlementSucceededTime: string | null;
  /** YYYY-MM-DD HH:MM:SS, UTC. */
  createAt: string;
  status: 'initialized' | 'paid' | 'settling' | 'completed' | 'settlement_pending' | 'expired' | 'cancelled';
  /** Why status is `settlement_pending`, else empty. */
  pendingReason: string;
  /** The payer that the session was created or signed for; empty when open to all. */
  intendedPayer: string;
  /** Micro-USD that went back to the payer, final on the chain; 0 when nothing did. */
  refundedAmount: Usd;
  /** True when an accepted deposit paid the session after it had expired; else absent. */
  late?: true;
  /** The merchant’s own object, byte for byte. */
  metadata: SessionMetadata;
}

export interface SessionCreateRequest {
  accountId: string;
  /** Token id: `<chain>::<token>`. */
  settlementToken: string;
  lineItems: readonly {
    itemType: 'product' | 'one_time';
    productId?: string | undefined;
    quantity?: number | undefined;
    /** Micro-USD. A product item may leave it out: the default is the first of the product’s commonPrices. */
    unitPrice?: Usd | undefined;
    productData?: {
      /** One line of visible characters, without bidi controls and with at most six combining marks in a row; spaces around it are dropped. */
      productName: string;
      productDescription?: string | undefined;
      imageUrl?: string | undefined;
      attributes?: readonly {
        /** One line of visible characters, without bidi controls and with at most six combining marks in a row; spaces around it are dropped. */
        name: string;
        value: string;
      }[] | undefined;
    } | undefined;
  }[];
  successUrl?: string | undefined;
  /** Where payers go back to who have not paid: while the session is open, and once it has expired or was cancelled. `{SESSION_ID}` is replaced, and `florin_status` added: `open`, `expired` or `cancelled`. */
  cancelUrl?: string | undefined;
  /** `paid`: five seconds after the payment is final, the page opens successUrl, unless the payer stops it; `never`: only the payer does. Default: paid. */
  autoReturn?: 'never' | 'paid' | undefined;
  /** Shown on the page after payment. */
  customSuccessText?: string | undefined;
  /** 1: yes; 0: no. */
  payerEmailRequired?: 0 | 1 | undefined;
  /** 1, the default: the merchant pays the fee; 2: the payer pays the fee. */
  feeModel?: 1 | 2 | undefined;
  /** Unix seconds: at least 1,800 seconds ahead, which is the default, and at most 30 days ahead. For clocks that differ, 5 seconds less are taken too. */
  expirationTime?: number | undefined;
  /** At most 16 KiB and 8 levels; returned byte for byte. */
  metadata?: GivenMetadata | undefined;
}

export interface SessionDeposit {
  /** Token id: `<chain>::<token>`. */
  tokenId: string;
  chainId: string;
  symbol: string;
  decimals: number;
  /** The last four characters of the deposit address, which tell several addresses apart. Anyone with the link may have asked for it: send only to an address that you asked for. */
  addressEnd: string;
  /** What has arrived, in the smallest token unit; a part that is not final may still vanish. */
  amountInToken: string;
  /** The part of it that is final. */
  finalInToken: string;
  /** What the same deposit address still needs; `0` when all is there. */
  missingInToken: string;
  /** Unix seconds: the last block time at which the rest is in time. */
  payUntil: number;
}

export interface SessionFilter {
  status?: 'initialized' | 'paid' | 'settling' | 'completed' | 'settlement_pending' | 'expired' | 'cancelled' | undefined;
  /** `nextCursor` of the page before; page 1 then begins behind it. */
  after?: string | undefined;
  /** Entries of one page: 1 to 100, the default. */
  size?: number | undefined;
}

export interface SessionSearchRequest {
  status?: 'initialized' | 'paid' | 'settling' | 'completed' | 'settlement_pending' | 'expired' | 'cancelled' | undefined;
  sessionType?: 'chk' | 'ai_checkout' | 'lnk' | undefined;
  /** At least in part. */
  isRefunded?: boolean | undefined;
  accountId?: string | undefined;
  linkId?: string | undefined;
  productId?: string | undefined;
  /** The wallet that paid, in either case. */
  payer?: string | undefined;
  /** The whole address, in either case. Needs `payer_pii:read`, else 200103. */
  payerEmail?: string | undefined;
  /** Token id: `<chain>::<token>`. */
  paidToken?: string | undefined;
  /** Of payment or settlement, in either case. */
  txHash?: string | undefined;
  /** Unix seconds. Created in this second or later. */
  createdFrom?: number | undefined;
  /** Unix seconds. Created in this second or before. */
  createdTo?: number | undefined;
  /** Unix seconds. Paid in this second or later. */
  paidFrom?: number | undefined;
  /** Unix seconds. Paid in this second or before. */
  paidTo?: number | undefined;
  /** Micro-USD: `amount` is this or more. */
  amountFrom?: Usd | undefined;
  /** Micro-USD: `amount` is this or less. */
  amountTo?: Usd | undefined;
  /** Top-level members of the metadata, with these values. */
  metadata?: { [name: string]: string | number | boolean } | undefined;
  /** Words that must all begin a word of the session: of its ids, its product names, its metadata values, the name of its payment link, and the payer’s e-mail address with `payer_pii:read`. The last four characters or more of the session’s id find it, and so does a shortened one, `sess_w…1QzY`. In either case. */
  text?: string | undefined;
  size?: number | undefined;
  /** `nextCursor` of the answer before. */
  after?: string | undefined;
}

export interface SessionView {
  session: Session;
  transaction?: Transaction;
  /** What has arrived at deposit addresses while the payment is incomplete; absent otherwise, and in events. */
  deposits?: SessionDeposit[];
  /** In the dashboard: a deposit paid it, so that `payer` is the refund address; absent otherwise, and in the merchant API. */
  isDeposit?: true;
  /** In the dashboard: money that came to a session and did not pay it, oldest first; absent otherwise, and in the merchant API. */
  exceptions?: PaymentException[];
  /** In the dashboard: the present name of the payment link; absent without one, and in the merchant API, which reads it by `businessId`. */
  linkName?: string;
}

export interface SettlementTokenInfo {
  tokenId: string;
  contractAddress: string;
  name: string;
  symbol: string;
  decimals: number;
  chainId: string;
}

export interface Success {
  success: true;
}

export interface Transaction {
  /** On-chain order: 32 bytes, hex. */
  orderId: string;
  /** Account, its version and settlement token, hashed: an indexed topic on chain. */
  channelId: string;
  /** How the money gets to the merchant. 0: kept by the contract until the payment is final; 1: direct, paid and settled by one transaction; 2: by the operator’s vault, in another token or on another chain; 3: by CCTP, which burns USDC and mints it on another chain. */
  orderType: number;
  /** Payer’s wallet. */
  from: string;
  /** Merchant’s wallet. */
  to: string;
  /** 32 bytes on chain that commit to the line items, hex. */
  metaData: string;
  /** Micro-USD of the order in total: what the payer paid, and addedValue. */
  totalValue: Usd;
  /** Micro-USD: the session’s amount. */
  paymentValue: Usd;
  /** Micro-USD: always totalValue - netValue. */
  feeValue: Usd;
  /** Micro-USD that the merchant receives. */
  netValue: Usd;
  /** Micro-USD that the operator added to a short deposit, 0 for most payments. The payer paid that much less than totalValue, and no refund that you make returns more than the payer paid. Absent, for 0, in events that are older than this field. */
  addedValue: Usd;
  /** What the payer paid, in smallest units of the paid token. */
  paidAmountInToken: string;
  /** Hash of the payment transaction. */
  sourceTx: string;
  /** Hash of the settlement transaction; empty until it is final. */
  targetTx: string;
  /** YYYY-MM-DD HH:MM:SS, UTC: time of the payment. */
  executeTime: string;
  /** YYYY-MM-DD HH:MM:SS, UTC: time of the settlement; empty until it is final. */
  finalizeTime: string;
}

export interface TransactionRequest {
  chainId: string;
  to: string;
  data: string;
  value: string;
}

export interface Webhook {
  /** Prefix `wkid_`. */
  webhookId: string;
  /** At most 100 characters. */
  webhookName: string;
  /** At most 1000 characters. */
  webhookDescription: string;
  /** Receiver, https, in its normal form (WHATWG). Without the values of its query (`?token=****`) for keys without `webhooks:write`, and in events. */
  webhookUrl: string;
  status: 'active' | 'inactive' | 'paused';
  subscribedEvents: EventSubscription[];
  /** Signing key `whsec_…`; masked for keys without `webhook_secrets:read`. */
  key: string;
  /** YYYY-MM-DD HH:MM:SS, UTC. */
  createAt: string;
  /** YYYY-MM-DD HH:MM:SS, UTC. */
  updateAt: string;
}

export interface WebhookCreateRequest {
  /** One line of visible characters, without bidi controls and with at most six combining marks in a row; spaces around it are dropped. */
  webhookName: string;
  webhookUrl: string;
  subscribedEvents: readonly EventSubscription[];
  webhookDescription?: string | undefined;
}

export interface WebhookUpdateRequest {
  webhookId: string;
  /** One line of visible characters, without bidi controls and with at most six combining marks in a row; spaces around it are dropped. */
  webhookName: string;
  webhookUrl: string;
  subscribedEvents: readonly EventSubscription[];
  webhookDescription?: string | undefined;
  /** `updateAt` of the webhook as it was read. Refused with 100507 if the webhook changed since. */
  ifUpdateAt?: string | undefined;
  /** Taken and ignored. */
  status?: unknown;
  /** Taken and ignored. */
  key?: unknown;
  /** Taken and ignored. */
  createAt?: unknown;
  /** Taken and ignored. */
  updateAt?: unknown;
}

export interface EventCommon {
  /** Prefix `evt_`. */
  id: string;
  apiVersion: 'v1';
  /** RFC 3339. */
  timestamp: string;
  /** Counts the events of one object from 1. */
  sequence: number;
  truncated?: true;
  /** An example that POST /webhook/test sent: nothing happened. */
  fixture?: true;
}

/** A collection account was added. */
export interface AccountCreatedEvent extends EventCommon {
  type: 'account.created';
  data: {
    account: Account;
  };
}

/** A collection account was changed. */
export interface AccountUpdatedEvent extends EventCommon {
  type: 'account.updated';
  data: {
    account: Account;
  };
}

/** A collection account was removed; its links are disabled. */
export interface AccountRemovedEvent extends EventCommon {
  type: 'account.removed';
  data: {
    account: Account;
  };
}

/** A wallet was added, or an account was given another address; it takes effect at `effectiveAt` if it is not cancelled. */
export interface AccountChangePlannedEvent extends EventCommon {
  type: 'account.change_planned';
  data: {
    accountChange: AccountChange;
  };
}

/** A wallet or an address that waited was cancelled. */
export interface AccountChangeCancelledEvent extends EventCommon {
  type: 'account.change_cancelled';
  data: {
    accountChange: AccountChange;
  };
}

/** A product was created. */
export interface ProductCreatedEvent extends EventCommon {
  type: 'product.created';
  data: {
    product: Product;
  };
}

/** A product was replaced. */
export interface ProductUpdatedEvent extends EventCommon {
  type: 'product.updated';
  data: {
    product: Product;
  };
}

/** A product was archived. */
export interface ProductArchivedEvent extends EventCommon {
  type: 'product.archived';
  data: {
    product: Product;
  };
}

/** A product was unarchived. */
export interface ProductUnarchivedEvent extends EventCommon {
  type: 'product.unarchived';
  data: {
    product: Product;
  };
}

/** A product was removed. */
export interface ProductRemovedEvent extends EventCommon {
  type: 'product.removed';
  data: {
    product: Product;
  };
}

/** A payment link was created. */
export interface PaymentLinkCreatedEvent extends EventCommon {
  type: 'payment.link.created';
  data: {
    link: PaymentLinkDetail;
  };
}

/** A payment link was replaced. */
export interface PaymentLinkUpdatedEvent extends EventCommon {
  type: 'payment.link.updated';
  data: {
    link: PaymentLinkDetail;
  };
}

/** A payment link was disabled, for any reason. */
export interface PaymentLinkDisabledEvent extends EventCommon {
  type: 'payment.link.disabled';
  data: {
    link: PaymentLinkDetail;
  };
}

/** A payment link was enabled. */
export interface PaymentLinkEnabledEvent extends EventCommon {
  type: 'payment.link.enabled';
  data: {
    link: PaymentLinkDetail;
  };
}

/** A session was created. */
export interface SessionCreatedEvent extends EventCommon {
  type: 'session.created';
  data: {
    session: Session;
  };
}

/** Its payment is in a block that is not final. */
export interface SessionPaymentDetectedEvent extends EventCommon {
  type: 'session.payment_detected';
  data: {
    session: Session;
  };
}

/** Its payment is final. Raised once. */
export interface SessionPaidEvent extends EventCommon {
  type: 'session.paid';
  data: {
    session: Session;
    transaction: Transaction;
  };
}

/** A settlement is recorded. */
export interface SessionSettlingEvent extends EventCommon {
  type: 'session.settling';
  data: {
    session: Session;
    transaction: Transaction;
  };
}

/** The money is in the merchant’s wallet, final. May come again after `session.settlement_pending`. */
export interface SessionCompletedEvent extends EventCommon {
  type: 'session.completed';
  data: {
    session: Session;
    transaction: Transaction;
  };
}

/** The settlement is delayed and being retried; or, with `payment_reorged`, the chain took the payment itself back. */
export interface SessionSettlementPendingEvent extends EventCommon {
  type: 'session.settlement_pending';
  data: {
    session: Session;
    transaction: Transaction;
  };
}

/** It was not paid in time, or its payment was taken back and did not return in time. */
export interface SessionExpiredEvent extends EventCommon {
  type: 'session.expired';
  data: {
    session: Session;
  };
}

/** The merchant cancelled it. */
export interface SessionCancelledEvent extends EventCommon {
  type: 'session.cancelled';
  data: {
    session: Session;
  };
}

/** Something about its payment needs attention, such as a second payment. */
export interface SessionExceptionEvent extends EventCommon {
  type: 'session.exception';
  data: {
    exception: RaisedException;
    session: Session;
  };
}

/** A refund was asked for. */
export interface RefundCreatedEvent extends EventCommon {
  type: 'refund.created';
  data: {
    refund: Refund;
  };
}

/** The payer has the money back, final. It comes without `refund.created` for money that a wallet returned through the gateway although no refund waited for it. */
export interface RefundCompletedEvent extends EventCommon {
  type: 'refund.completed';
  data: {
    refund: Refund;
  };
}

/** The money went to the merchant instead. */
export interface RefundFailedEvent extends EventCommon {
  type: 'refund.failed';
  data: {
    refund: Refund;
  };
}

/** The merchant cancelled it before it was signed. `refund.completed` follows if the money goes back all the same. */
export interface RefundCancelledEvent extends EventCommon {
  type: 'refund.cancelled';
  data: {
    refund: Refund;
  };
}

/** The payer no longer has the money: a reorganisation below finality took back the transaction of a completed refund, which `txHash` names. `status` is `requires_signature` where your wallet had signed it, `cancelled` where you had cancelled it before, and `pending` where the service sends it again. `refund.completed` follows when the money is back with the payer. */
export interface RefundReopenedEvent extends EventCommon {
  type: 'refund.reopened';
  data: {
    refund: Refund;
  };
}

/** `POST /webhook/test` was called. */
export interface WebhookTestEvent extends EventCommon {
  type: 'webhook.test';
  data: {
    message: string;
  };
}

/** Another webhook of the merchant failed for too long. */
export interface WebhookPausedEvent extends EventCommon {
  type: 'webhook.paused';
  data: {
    webhook: {
      /** Prefix `wkid_`. */
      webhookId: string;
      /** At most 100 characters. */
      webhookName: string;
      /** At most 1000 characters. */
      webhookDescription: string;
      /** Receiver, https, in its normal form (WHATWG). Without the values of its query (`?token=****`) for keys without `webhooks:write`, and in events. */
      webhookUrl: string;
      status: 'active' | 'inactive' | 'paused';
      subscribedEvents: EventSubscription[];
      /** YYYY-MM-DD HH:MM:SS, UTC. */
      createAt: string;
      /** YYYY-MM-DD HH:MM:SS, UTC. */
      updateAt: string;
    };
  };
}

/** An event of a type that is newer than this version of the SDK. */
export interface UnknownEvent extends EventCommon {
  type: 'unknown';
  /** The type as it was sent. */
  unknownType: string;
  data: unknown;
}

/** What a webhook receives. `type` tells what `data` is. */
export type FlorinEvent =
  | AccountCreatedEvent
  | AccountUpdatedEvent
  | AccountRemovedEvent
  | AccountChangePlannedEvent
  | AccountChangeCancelledEvent
  | ProductCreatedEvent
  | ProductUpdatedEvent
  | ProductArchivedEvent
  | ProductUnarchivedEvent
  | ProductRemovedEvent
  | PaymentLinkCreatedEvent
  | PaymentLinkUpdatedEvent
  | PaymentLinkDisabledEvent
  | PaymentLinkEnabledEvent
  | SessionCreatedEvent
  | SessionPaymentDetectedEvent
  | SessionPaidEvent
  | SessionSettlingEvent
  | SessionCompletedEvent
  | SessionSettlementPendingEvent
  | SessionExpiredEvent
  | SessionCancelledEvent
  | SessionExceptionEvent
  | RefundCreatedEvent
  | RefundCompletedEvent
  | RefundFailedEvent
  | RefundCancelledEvent
  | RefundReopenedEvent
  | WebhookTestEvent
  | WebhookPausedEvent
  | UnknownEvent;

/** Every type of event that this version of the SDK knows. */
export const eventTypes = [
  'account.created',
  'account.updated',
  'account.removed',
  'account.change_planned',
  'account.change_cancelled',
  'product.created',
  'product.updated',
  'product.archived',
  'product.unarchived',
  'product.removed',
  'payment.link.created',
  'payment.link.updated',
  'payment.link.disabled',
  'payment.link.enabled',
  'session.created',
  'session.payment_detected',
  'session.paid',
  'session.settling',
  'session.completed',
  'session.settlement_pending',
  'session.expired',
  'session.cancelled',
  'session.exception',
  'refund.created',
  'refund.completed',
  'refund.failed',
  'refund.cancelled',
  'refund.reopened',
  'webhook.test',
  'webhook.paused',
] as const;
export type EventType = (typeof eventTypes)[number];

/** What `subscribedEvents` may have. */
export type EventSubscription = EventType | '*' | 'account.*' | 'product.*' | 'payment.link.*' | 'session.*' | 'refund.*' | 'webhook.*';

/** Every operation of the merchant API: what it takes and what it answers. */
export interface Operations {
  createProduct: {
    params: undefined;
    query: undefined;
    body: ProductCreateRequest;
    reply: Product;
  };
  listProducts: {
    params: {
      page: number;
      size: number;
    };
    query: {
      /** `nextCursor` of the page before; page 1 then begins behind it. */
      after?: string | undefined;
    };
    body: undefined;
    reply: {
      total: number;
      page: string;
      size: string;
      hasMore: boolean;
      /** What `after` takes for the page behind this one; empty on the last page. */
      nextCursor: string;
      products: Product[];
    };
  };
  listProductsByIds: {
    params: undefined;
    query: undefined;
    body: {
      productIds: readonly string[];
    };
    reply: Product[];
  };
  updateProduct: {
    params: undefined;
    query: undefined;
    body: ProductUpdateRequest;
    reply: Success;
  };
  removeProduct: {
    params: undefined;
    query: undefined;
    body: {
      productId: string;
    };
    reply: Success;
  };
  archiveProduct: {
    params: undefined;
    query: undefined;
    body: {
      productId: string;
    };
    reply: Success;
  };
  unarchiveProduct: {
    params: undefined;
    query: undefined;
    body: {
      productId: string;
    };
    reply: Success;
  };
  getAccount: {
    params: {
      accountId: string;
    };
    query: undefined;
    body: undefined;
    reply: Account;
  };
  listAccounts: {
    params: undefined;
    query: undefined;
    body: undefined;
    reply: Account[];
  };
  createLink: {
    params: undefined;
    query: undefined;
    body: PaymentLinkCreateRequest;
    reply: PaymentLinkCreated;
  };
  updateLink: {
    params: undefined;
    query: undefined;
    body: PaymentLinkUpdateRequest;
    reply: Success;
  };
  getLink: {
    params: {
      linkId: string;
    };
    query: undefined;
    body: undefined;
    reply: PaymentLinkDetail;
  };
  listLinks: {
    params: {
      page: number;
      size: number;
    };
    query: {
      /** `nextCursor` of the page before; page 1 then begins behind it. */
      after?: string | undefined;
    };
    body: undefined;
    reply: {
      total: number;
      page: string;
      size: string;
      hasMore: boolean;
      /** What `after` takes for the page behind this one; empty on the last page. */
      nextCursor: string;
      links: PaymentLink[];
    };
  };
  disableLink: {
    params: undefined;
    query: undefined;
    body: {
      linkId: string;
    };
    reply: Success;
  };
  enableLink: {
    params: undefined;
    query: undefined;
    body: {
      linkId: string;
    };
    reply: Success;
  };
  getBranding: {
    params: undefined;
    query: undefined;
    body: undefined;
    reply: Branding;
  };
  updateBranding: {
    params: undefined;
    query: undefined;
    body: BrandingUpdateRequest;
    reply: Success;
  };
  createCheckoutSession: {
    params: undefined;
    query: undefined;
    body: SessionCreateRequest;
    reply: Session;
  };
  cancelCheckoutSession: {
    params: undefined;
    query: undefined;
    body: {
      sessionId: string;
    };
    reply: Success;
  };
  getSession: {
    params: {
      sessionId: string;
    };
    query: undefined;
    body: undefined;
    reply: SessionView;
  };
  searchSessions: {
    params: undefined;
    query: undefined;
    body: SessionSearchRequest;
    reply: {
      sessions: SessionView[];
      /** What `after` takes to go on; empty when there is no more. */
      nextCursor: string;
      /** Whether there may be more. An answer with few sessions, or none, can have more. */
      hasMore: boolean;
    };
  };
  listSessions: {
    params: {
      page: number;
      size: number;
    };
    query: {
      /** `nextCursor` of the page before; page 1 then begins behind it. */
      after?: string | undefined;
    };
    body: undefined;
    reply: {
      total: number;
      page: number;
      size: number;
      hasMore: boolean;
      /** What `after` takes for the page behind this one; empty on the last page. */
      nextCursor: string;
      sessions: SessionView[];
    };
  };
  listInitializedSessions: {
    params: {
      page: number;
      size: number;
    };
    query: {
      /** `nextCursor` of the page before; page 1 then begins behind it. */
      after?: string | undefined;
    };
    body: undefined;
    reply: {
      total: number;
      page: number;
      size: number;
      hasMore: boolean;
      /** What `after` takes for the page behind this one; empty on the last page. */
      nextCursor: string;
      sessions: SessionView[];
    };
  };
  listPaidSessions: {
    params: {
      page: number;
      size: number;
    };
    query: {
      /** `nextCursor` of the page before; page 1 then begins behind it. */
      after?: string | undefined;
    };
    body: undefined;
    reply: {
      total: number;
      page: number;
      size: number;
      hasMore: boolean;
      /** What `after` takes for the page behind this one; empty on the last page. */
      nextCursor: string;
      sessions: SessionView[];
    };
  };
  listSettlingSessions: {
    params: {
      page: number;
      size: number;
    };
    query: {
      /** `nextCursor` of the page before; page 1 then begins behind it. */
      after?: string | undefined;
    };
    body: undefined;
    reply: {
      total: number;
      page: number;
      size: number;
      hasMore: boolean;
      /** What `after` takes for the page behind this one; empty on the last page. */
      nextCursor: string;
      sessions: SessionView[];
    };
  };
  listCompletedSessions: {
    params: {
      page: number;
      size: number;
    };
    query: {
      /** `nextCursor` of the page before; page 1 then begins behind it. */
      after?: string | undefined;
    };
    body: undefined;
    reply: {
      total: number;
      page: number;
      size: number;
      hasMore: boolean;
      /** What `after` takes for the page behind this one; empty on the last page. */
      nextCursor: string;
      sessions: SessionView[];
    };
  };
  listCancelledSessions: {
    params: {
      page: number;
      size: number;
    };
    query: {
      /** `nextCursor` of the page before; page 1 then begins behind it. */
      after?: string | undefined;
    };
    body: undefined;
    reply: {
      total: number;
      page: number;
      size: number;
      hasMore: boolean;
      /** What `after` takes for the page behind this one; empty on the last page. */
      nextCursor: string;
      sessions: SessionView[];
    };
  };
  listExpiredSessions: {
    params: {
      page: number;
      size: number;
    };
    query: {
      /** `nextCursor` of the page before; page 1 then begins behind it. */
      after?: string | undefined;
    };
    body: undefined;
    reply: {
      total: number;
      page: number;
      size: number;
      hasMore: boolean;
      /** What `after` takes for the page behind this one; empty on the last page. */
      nextCursor: string;
      sessions: SessionView[];
    };
  };
  listSettlementPendingSessions: {
    params: {
      page: number;
      size: number;
    };
    query: {
      /** `nextCursor` of the page before; page 1 then begins behind it. */
      after?: string | undefined;
    };
    body: undefined;
    reply: {
      total: number;
      page: number;
      size: number;
      hasMore: boolean;
      /** What `after` takes for the page behind this one; empty on the last page. */
      nextCursor: string;
      sessions: SessionView[];
    };
  };
  createRefund: {
    params: undefined;
    query: undefined;
    body: RefundCreateRequest;
    reply: Refund;
  };
  cancelRefund: {
    params: undefined;
    query: undefined;
    body: {
      refundId: string;
    };
    reply: Refund;
  };
  getRefund: {
    params: {
      refundId: string;
    };
    query: undefined;
    body: undefined;
    reply: Refund;
  };
  listRefunds: {
    params: {
      page: number;
      size: number;
    };
    query: {
      /** `nextCursor` of the page before; page 1 then begins behind it. */
      after?: string | undefined;
      /** Of this session alone. */
      sessionId?: string | undefined;
    };
    body: undefined;
    reply: {
      total: number;
      page: number;
      size: number;
      hasMore: boolean;
      /** What `after` takes for the page behind this one; empty on the last page. */
      nextCursor: string;
      refunds: Refund[];
    };
  };
  listExceptions: {
    params: {
      page: number;
      size: number;
    };
    query: {
      /** `nextCursor` of the page before; page 1 then begins behind it. */
      after?: string | undefined;
    };
    body: undefined;
    reply: {
      total: number;
      page: number;
      size: number;
      hasMore: boolean;
      /** What `after` takes for the page behind this one; empty on the last page. */
      nextCursor: string;
      exceptions: PaymentException[];
    };
  };
  resolveException: {
    params: undefined;
    query: undefined;
    body: {
      exceptionId: string;
    };
    reply: Success;
  };
  acceptException: {
    params: undefined;
    query: undefined;
    body: {
      exceptionId: string;
    };
    reply: Success;
  };
  refundException: {
    params: undefined;
    query: undefined;
    body: {
      exceptionId: string;
    };
    reply: Success;
  };
  createReport: {
    params: undefined;
    query: undefined;
    body: ReportCreateRequest;
    reply: {
      reportId: string;
      status: 'pending' | 'ready' | 'failed';
    };
  };
  getReport: {
    params: {
      reportId: string;
    };
    query: undefined;
    body: undefined;
    reply: Report;
  };
  createWebhook: {
    params: undefined;
    query: undefined;
    body: WebhookCreateRequest;
    reply: Webhook;
  };
  updateWebhook: {
    params: undefined;
    query: undefined;
    body: WebhookUpdateRequest;
    reply: Success;
  };
  disableWebhook: {
    params: undefined;
    query: undefined;
    body: {
      webhookId: string;
    };
    reply: Success;
  };
  enableWebhook: {
    params: undefined;
    query: undefined;
    body: {
      webhookId: string;
      /** Unix seconds: also resends what was skipped or failed since then. */
      replaySince?: number | undefined;
    };
    reply: Success;
  };
  refreshWebhookKey: {
    params: undefined;
    query: undefined;
    body: {
      webhookId: string;
      /** How long the old key also signs; with the default 0 it is invalid at once. */
      overlapSeconds?: number | undefined;
    };
    reply: Success;
  };
  removeWebhook: {
    params: undefined;
    query: undefined;
    body: {
      webhookId: string;
    };
    reply: Success;
  };
  listWebhooks: {
    params: undefined;
    query: undefined;
    body: undefined;
    reply: {
      webhooks: Webhook[];
    };
  };
  getWebhook: {
    params: {
      webhookId: string;
    };
    query: undefined;
    body: undefined;
    reply: Webhook;
  };
  testWebhook: {
    params: undefined;
    query: undefined;
    body: {
      webhookId: string;
      /** Sends an example event of this type, marked with fixture; webhook.test by default. */
      eventType?: EventType | undefined;
    };
    reply: {
      eventId: string;
      deliveryId: string;
    };
  };
  listDeliveries: {
    params: {
      webhookId: string;
      page: number;
      size: number;
    };
    query: {
      /** `nextCursor` of the page before; page 1 then begins behind it. */
      after?: string | undefined;
    };
    body: undefined;
    reply: {
      total: number;
      page: number;
      size: number;
      hasMore: boolean;
      /** What `after` takes for the page behind this one; empty on the last page. */
      nextCursor: string;
      deliveries: Delivery[];
    };
  };
  getDelivery: {
    params: {
      deliveryId: string;
    };
    query: undefined;
    body: undefined;
    reply: DeliveryDetail;
  };
  resendDeliveries: {
    params: undefined;
    query: undefined;
    body: {
      webhookId?: string | undefined;
      eventId?: string | undefined;
      /** Unix seconds: deliveries of events raised then or later. */
      since?: number | undefined;
      /** Unix seconds: deliveries of events raised before then. */
      until?: number | undefined;
      /** failed, skipped and pending by default; all with an eventId. pending: those that wait for their next attempt. */
      statuses?: readonly ('succeeded' | 'failed' | 'skipped' | 'pending')[] | undefined;
      /** `last` of the previous answer. */
      after?: string | undefined;
    };
    reply: {
      success: true;
      resent: number;
      hasMore: boolean;
      /** The last delivery that was examined; empty when there was none. */
      last: string;
    };
  };
  resendDelivery: {
    params: undefined;
    query: undefined;
    body: {
      deliveryId: string;
    };
    reply: Success;
  };
  listEvents: {
    params: {
      page: number;
      size: number;
    };
    query: {
      /** A type or a pattern, as in subscribedEvents: session.paid, session.*. */
      type?: string | undefined;
      /** The id of an event: only later events, oldest first. */
      after?: string | undefined;
    };
    body: undefined;
    reply: {
      total: number;
      page: number;
      size: number;
      hasMore: boolean;
      events: FlorinEvent[];
    };
  };
  getEvent: {
    params: {
      eventId: string;
    };
    query: undefined;
    body: undefined;
    reply: FlorinEvent;
  };
  getCapabilities: {
    params: undefined;
    query: undefined;
    body: undefined;
    reply: Capabilities;
  };
}

/** Every error of the merchant API by its slug. */
export const errorCodes = {
  link_not_found: 100101,
  link_archived: 100102,
  link_not_active: 100103,
  link_version_invalid: 100104,
  link_items_mismatch: 100105,
  session_not_found: 100201,
  session_expired: 100203,
  session_paid: 100204,
  session_cancelled: 100205,
  session_already_signed: 100207,
  expiration_out_of_range: 100208,
  amount_out_of_range: 100209,
  product_not_found: 100301,
  products_missing: 100302,
  products_not_active: 100303,
  product_not_active: 100304,
  product_used: 100305,
  product_removed: 100306,
  product_changed: 100307,
  branding_changed: 100308,
  account_not_found: 100401,
  account_removed: 100402,
  settlement_token_not_enabled: 100404,
  webhook_not_found: 100501,
  webhook_limit: 100502,
  webhook_url_not_allowed: 100503,
  event_type_unknown: 100504,
  delivery_not_found: 100505,
  event_not_found: 100506,
  webhook_changed: 100507,
  refund_exceeds: 100701,
  refund_not_possible: 100702,
  refund_not_found: 100703,
  exception_not_found: 100704,
  exception_decided: 100705,
  exception_not_acceptable: 100706,
  exception_undecided: 100707,
  report_not_found: 100709,
  refund_being_signed: 100710,
  refund_not_cancellable: 100711,
  merchant_suspended: 100809,
  authorization_header_malformed: 200101,
  api_key_invalid: 200102,
  api_key_forbidden: 200103,
  json_malformed: 400100,
  field_invalid: 400101,
  body_too_large: 400110,
  media_type_unsupported: 400111,
  currency_unsupported: 400201,
  channel_unsupported: 400202,
  idempotency_key_reused: 400401,
  idempotency_in_flight: 400402,
  route_unknown: 404000,
  method_not_allowed: 405000,
  rate_limited: 900101,
  create_failed: 900201,
  update_failed: 900202,
  query_failed: 900203,
  image_store_unavailable: 900301,
  chain_unavailable: 900401,
  internal: 999999,
} as const;

/** What a branding has before its first update. Its other members are empty. */
export const plainBranding: Readonly<Record<string, unknown>> = {"cornerRadius":12,"font":"system","embedOrigins":[]};

/** Where each operation is, and whether a repetition needs an Idempotency-Key. */
export const routes = {
  createProduct: { method: 'POST', path: '/product/create', isChange: true },
  listProducts: { method: 'GET', path: '/product/list/:page/:size', isChange: false },
  listProductsByIds: { method: 'POST', path: '/product/list/by/ids', isChange: false },
  updateProduct: { method: 'POST', path: '/product/update', isChange: true },
  removeProduct: { method: 'POST', path: '/product/remove', isChange: true },
  archiveProduct: { method: 'POST', path: '/product/archive', isChange: true },
  unarchiveProduct: { method: 'POST', path: '/product/unarchive', isChange: true },
  getAccount: { method: 'GET', path: '/account/detail/:accountId', isChange: false },
  listAccounts: { method: 'GET', path: '/account/list', isChange: false },
  createLink: { method: 'POST', path: '/payment/link/create', isChange: true },
  updateLink: { method: 'POST', path: '/payment/link/update', isChange: true },
  getLink: { method: 'GET', path: '/payment/link/:linkId', isChange: false },
  listLinks: { method: 'GET', path: '/payment/link/list/:page/:size', isChange: false },
  disableLink: { method: 'POST', path: '/payment/link/disable', isChange: true },
  enableLink: { method: 'POST', path: '/payment/link/enable', isChange: true },
  getBranding: { method: 'GET', path: '/branding/detail', isChange: false },
  updateBranding: { method: 'POST', path: '/branding/update', isChange: true },
  createCheckoutSession: { method: 'POST', path: '/session/checkout/create', isChange: true },
  cancelCheckoutSession: { method: 'POST', path: '/session/checkout/cancel', isChange: true },
  getSession: { method: 'GET', path: '/session/:sessionId', isChange: false },
  searchSessions: { method: 'POST', path: '/session/search', isChange: false },
  listSessions: { method: 'GET', path: '/session/list/all/:page/:size', isChange: false },
  listInitializedSessions: { method: 'GET', path: '/session/list/initialized/:page/:size', isChange: false },
  listPaidSessions: { method: 'GET', path: '/session/list/paid/:page/:size', isChange: false },
  listSettlingSessions: { method: 'GET', path: '/session/list/settling/:page/:size', isChange: false },
  listCompletedSessions: { method: 'GET', path: '/session/list/completed/:page/:size', isChange: false },
  listCancelledSessions: { method: 'GET', path: '/session/list/cancelled/:page/:size', isChange: false },
  listExpiredSessions: { method: 'GET', path: '/session/list/expired/:page/:size', isChange: false },
  listSettlementPendingSessions: { method: 'GET', path: '/session/list/settlement/pending/:page/:size', isChange: false },
  createRefund: { method: 'POST', path: '/refund/create', isChange: true },
  cancelRefund: { method: 'POST', path: '/refund/cancel', isChange: true },
  getRefund: { method: 'GET', path: '/refund/:refundId', isChange: false },
  listRefunds: { method: 'GET', path: '/refund/list/:page/:size', isChange: false },
  listExceptions: { method: 'GET', path: '/exception/list/:page/:size', isChange: false },
  resolveException: { method: 'POST', path: '/exception/resolve', isChange: true },
  acceptException: { method: 'POST', path: '/exception/accept', isChange: true },
  refundException: { method: 'POST', path: '/exception/refund', isChange: true },
  createReport: { method: 'POST', path: '/report/create', isChange: true },
  getReport: { method: 'GET', path: '/report/:reportId', isChange: false },
  createWebhook: { method: 'POST', path: '/webhook/create', isChange: true },
  updateWebhook: { method: 'POST', path: '/webhook/update', isChange: true },
  disableWebhook: { method: 'POST', path: '/webhook/disable', isChange: true },
  enableWebhook: { method: 'POST', path: '/webhook/enable', isChange: true },
  refreshWebhookKey: { method: 'POST', path: '/webhook/key/refresh', isChange: true },
  removeWebhook: { method: 'POST', path: '/webhook/remove', isChange: true },
  listWebhooks: { method: 'GET', path: '/webhook/list', isChange: false },
  getWebhook: { method: 'GET', path: '/webhook/detail/:webhookId', isChange: false },
  testWebhook: { method: 'POST', path: '/webhook/test', isChange: true },
  listDeliveries: { method: 'GET', path: '/webhook/delivery/list/:webhookId/:page/:size', isChange: false },
  getDelivery: { method: 'GET', path: '/webhook/delivery/detail/:deliveryId', isChange: false },
  resendDeliveries: { method: 'POST', path: '/webhook/delivery/resend/all', isChange: true },
  resendDelivery: { method: 'POST', path: '/webhook/delivery/resend', isChange: true },
  listEvents: { method: 'GET', path: '/event/list/:page/:size', isChange: false },
  getEvent: { method: 'GET', path: '/event/:eventId', isChange: false },
  getCapabilities: { method: 'GET', path: '/capabilities/all', isChange: false },
} as const;
