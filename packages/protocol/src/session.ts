import Type, { type Static } from 'typebox';
import { paymentException } from './exception.ts';
import { lineItems, productDataBody, quantity } from './line-item.ts';
import {
  feeModel,
  flag,
  httpsUrl,
  idText,
  strictObject,
  text,
  timestampOrNull,
  timestampText,
} from './schema.ts';
import { returnBody, returnView } from './shop-return.ts';
import { transaction } from './transaction.ts';

export const sessionStatuses = [
  'initialized',
  'paid',
  'settling',
  'completed',
  'settlement_pending',
  'expired',
  'cancelled',
] as const;
export type SessionStatus = (typeof sessionStatuses)[number];

/** chk: merchant API; ai_checkout: AI protocol; lnk: hosted page of a payment link. */
export const sessionTypes = ['chk', 'ai_checkout', 'lnk'] as const;
export type SessionType = (typeof sessionTypes)[number];

/** Why a settlement is delayed. payment_reorged: the chain took back the payment itself. reorged: only the settlement. */
export const pendingReasons = [
  'payment_reorged',
  'reorged',
  'reverted',
  'not_mined',
  'vault_short',
  'recipient_blocked',
  'token_paused',
  'token_not_served',
  'attestation_pending',
  'outflow_cap',
  'order_in_doubt',
] as const;
export type PendingReason = (typeof pendingReasons)[number];

export const session = Type.Object({
  sessionId: Type.String({ description: 'Prefix `sess_`' }),
  sessionType: Type.Enum(sessionTypes),
  businessId: Type.String({
    description: 'The payment link’s id for `lnk` and `ai_checkout` sessions, else empty',
  }),
  businessType: Type.String({
    description: '`payment_link` for `lnk` and `ai_checkout` sessions, else empty',
  }),
  clientCode: Type.String({ description: 'Secret of the hosted page; `****` for restricted keys' }),
  payer: Type.String({
    description:
      'Wallet that paid; by x402 of a link the one that signed for it, although anyone may have brought the money; empty until paid',
  }),
  payerEmail: Type.String({ description: 'Empty until paid, and for keys without `payer_pii:read`' }),
  payerEmailRequired: flag,
  paidToken: Type.String({ description: 'Token id; empty until paid' }),
  receiptId: Type.String({ description: 'Empty until paid' }),
  recipient: Type.String({ description: 'Collection wallet' }),
  settlementToken: Type.String({ description: 'Token id: `<chain>::<token>`' }),
  feeModel: Type.Integer({ description: '1: the merchant pays the fee; 2: the payer pays the fee' }),
  amount: Type.Integer({ description: 'Micro-USD: the sum of the line items' }),
  lineItems,
  expirationTime: Type.Integer({
    description:
      'Unix seconds: a session that is unpaid then expires. With signedOnce 1 it expires a little later, once no signed order can be paid any more',
  }),
  successUrl: Type.String({
    description:
      'Where the payer is sent after payment; `{SESSION_ID}` is replaced, and `florin_status` added: `processing` from the payment’s first block on, `paid` once it is final. Never proof of payment',
  }),
  /** Additive. */
  ...returnView,
  /** Additive. */
  customSuccessText: Type.Optional(
    Type.String({ description: 'Shown after payment; absent without one, and for sessions of links' }),
  ),
  paymentUrl: Type.String({ description: 'Hosted checkout page; the fragment holds clientCode' }),
  signedOnce: flag,
  initiateTx: Type.String({ description: 'Hash of the payment transaction; empty until it is seen' }),
  completeTx: Type.String({ description: 'Hash of the settlement transaction; empty until it is final' }),
  paymentSucceededTime: timestampOrNull,
  settlementSucceededTime: timestampOrNull,
  createAt: timestampText,
  status: Type.Enum(sessionStatuses),
  /** Additive: why status is settlement_pending, else empty. */
  pendingReason: Type.String({ description: 'Why status is `settlement_pending`, else empty' }),
  /** Additive: the payer that the session was created or signed for; empty when open to all. */
  intendedPayer: Type.String({
    description: 'The payer that the session was created or signed for; empty when open to all',
  }),
  /** Additive. */
  refundedAmount: Type.Integer({
    description: 'Micro-USD that went back to the payer, final on the chain; 0 when nothing did',
  }),
  /** Additive. */
  late: Type.Optional(
    Type.Literal(true, {
      description: 'True when an accepted deposit paid the session after it had expired; else absent',
    }),
  ),
  metadata: Type.Record(Type.String(), Type.Unknown(), {
    description: 'The merchant’s own object, byte for byte',
  }),
});
export type Session = Static<typeof session>;

/** Additive: money at a deposit address of a session that is not paid yet. */
export const sessionDeposit = Type.Object({
  tokenId: Type.String({ description: 'Token id: `<chain>::<token>`' }),
  chainId: Type.String(),
  symbol: Type.String(),
  decimals: Type.Integer(),
  addressEnd: Type.String({
    description:
      'The last four characters of the deposit address, which tell several addresses apart. Anyone with the link may have asked for it: send only to an address that you asked for',
  }),
  amountInToken: Type.String({
    description: 'What has arrived, in the smallest token unit; a part that is not final may still vanish',
  }),
  finalInToken: Type.String({ description: 'The part of it that is final' }),
  missingInToken: Type.String({
    description: 'What the same deposit address still needs; `0` when all is there',
  }),
  payUntil: Type.Integer({ description: 'Unix seconds: the last block time at which the rest is in time' }),
});
export type SessionDeposit = Static<typeof sessionDeposit>;

/** One session in GET /session/:sessionId and the lists. */
export const sessionView = Type.Object({
  session,
  transaction: Type.Optional(transaction),
  deposits: Type.Optional(
    Type.Array(sessionDeposit, {
      description:
        'What has arrived at deposit addresses while the payment is incomplete; absent otherwise, and in events',
    }),
  ),
  isDeposit: Type.Optional(
    Type.Literal(true, {
      description:
        'In the dashboard: a deposit paid it, so that `payer` is the refund address; absent otherwise, and in the merchant API',
    }),
  ),
  exceptions: Type.Optional(
    Type.Array(paymentException, {
      description:
        'In the dashboard: money that came to a session and did not pay it, oldest first; absent otherwise, and in the merchant API',
    }),
  ),
  linkName: Type.Optional(
    Type.String({
      description:
        'In the dashboard: the present name of the payment link; absent without one, and in the merchant API, which reads it by `businessId`',
    }),
  ),
});
export type SessionView = Static<typeof sessionView>;

/** `data` of events about a session whose payment is final. */
export const paidSessionView = Type.Object({ session, transaction });

/** Default and least life of a session in seconds, the grace for slow clocks, and the longest life. */
export const sessionLifeSeconds = { minimum: 1800, grace: 5, maximum: 30 * 24 * 3600 } as const;

/** Bytes of metadata as sent, and nesting of objects and arrays, the object itself included. */
export const metadataLimits = { bytes: 16 * 1024, depth: 8 } as const;

const sessionFeeModel = Type.Union([...feeModel.anyOf], {
  description: '1, the default: the merchant pays the fee; 2: the payer pays the fee',
});

export const sessionItemBody = strictObject({
  itemType: Type.Union([Type.Literal('product'), Type.Literal('one_time')]),
  productId: Type.Optional(text({ max: 64 })),
  quantity: Type.Optional(quantity),
  unitPrice: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 10_000_000_000_000,
      description:
        'Micro-USD. A product item may leave it out: the default is the first of the product’s commonPrices',
    }),
  ),
  productData: Type.Optional(productDataBody),
});

export const sessionCreateBody = strictObject({
  accountId: idText,
  settlementToken: text({ min: 1, max: 64, description: 'Token id: `<chain>::<token>`' }),
  lineItems: Type.Array(sessionItemBody, { minItems: 1, maxItems: 100 }),
  successUrl: Type.Optional(Type.Union([Type.Literal(''), httpsUrl(1000)])),
  ...returnBody,
  customSuccessText: Type.Optional(text({ max: 500, description: 'Shown on the page after payment' })),
  payerEmailRequired: Type.Optional(flag),
  feeModel: Type.Optional(sessionFeeModel),
  expirationTime: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: `Unix seconds: at least 1,800 seconds ahead, which is the default, and at most 30 days ahead. For clocks that differ, ${sessionLifeSeconds.grace} seconds less are taken too`,
    }),
  ),
  metadata: Type.Optional(
    Type.Object(
      {},
      { additionalProperties: true, description: 'At most 16 KiB and 8 levels; returned byte for byte' },
    ),
  ),
});
export type SessionCreateBody = Static<typeof sessionCreateBody>;
