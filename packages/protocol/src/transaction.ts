import Type, { type Static } from 'typebox';

/** The on-chain facts of a paid session. Values in Micro-USD; times in the merchant API's format. */
export const transaction = Type.Object({
  orderId: Type.String({ description: 'On-chain order: 32 bytes, hex' }),
  channelId: Type.String({
    description: 'Account, its version and settlement token, hashed: an indexed topic on chain',
  }),
  orderType: Type.Integer({
    description:
      'How the money gets to the merchant. 0: kept by the contract until the payment is final; 1: direct, paid and settled by one transaction; 2: by the operator’s vault, in another token or on another chain; 3: by CCTP, which burns USDC and mints it on another chain',
  }),
  from: Type.String({ description: 'Payer’s wallet' }),
  to: Type.String({ description: 'Merchant’s wallet' }),
  metaData: Type.String({ description: '32 bytes on chain that commit to the line items, hex' }),
  totalValue: Type.Integer({
    description: 'Micro-USD of the order in total: what the payer paid, and addedValue',
  }),
  paymentValue: Type.Integer({ description: 'Micro-USD: the session’s amount' }),
  feeValue: Type.Integer({ description: 'Micro-USD: always totalValue - netValue' }),
  netValue: Type.Integer({ description: 'Micro-USD that the merchant receives' }),
  addedValue: Type.Integer({
    description:
      'Micro-USD that the operator added to a short deposit, 0 for most payments. The payer paid that much less than totalValue, and no refund that you make returns more than the payer paid. Absent, for 0, in events that are older than this field',
  }),
  /** Additive: the payer's payment, in smallest units of the paid token. */
  paidAmountInToken: Type.String({ description: 'What the payer paid, in smallest units of the paid token' }),
  sourceTx: Type.String({ description: 'Hash of the payment transaction' }),
  targetTx: Type.String({ description: 'Hash of the settlement transaction; empty until it is final' }),
  executeTime: Type.String({ description: 'YYYY-MM-DD HH:MM:SS, UTC: time of the payment' }),
  finalizeTime: Type.String({
    description: 'YYYY-MM-DD HH:MM:SS, UTC: time of the settlement; empty until it is final',
  }),
});
export type PaymentTransaction = Static<typeof transaction>;
