import Type, { type Static } from 'typebox';

/** What happened on chain for a paid session. Values in Micro-USD; times as the merchant API writes them. */
export const transaction = Type.Object({
  orderId: Type.String(),
  channelId: Type.String(),
  orderType: Type.Integer(),
  from: Type.String(),
  to: Type.String(),
  metaData: Type.String(),
  totalValue: Type.Integer(),
  paymentValue: Type.Integer(),
  feeValue: Type.Integer(),
  netValue: Type.Integer(),
  /** Additive: what the payer paid, in smallest units of the paid token. */
  paidAmountInToken: Type.String(),
  sourceTx: Type.String(),
  targetTx: Type.String(),
  executeTime: Type.String(),
  finalizeTime: Type.String(),
});
export type Transaction = Static<typeof transaction>;
