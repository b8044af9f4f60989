import Type, { type Static } from 'typebox';

/** A token that a merchant can be settled in, or that a payer can pay with. */
export const supportedToken = Type.Object({
  tokenId: Type.String({ description: '`<chain>::<token>`' }),
  symbol: Type.String(),
  chainId: Type.String(),
  decimals: Type.Integer(),
});

/** One token that pays towards a settlement token, and on which terms. Values in Micro-USD. */
export const paymentCapability = Type.Object({
  tokenId: Type.String(),
  crosschain: Type.Boolean(),
  feeRatePPM: Type.Integer(),
  minPaymentValue: Type.Integer(),
  maxPaymentValue: Type.Integer(),
  etaSeconds: Type.Integer({ description: 'Usual time from the payment to the merchant, in seconds' }),
  finality: Type.String({ description: 'When a payment counts as final on the chain it is paid on' }),
  methods: Type.Array(Type.String()),
});

export const capabilities = Type.Object({
  supportedTokens: Type.Array(supportedToken),
  paymentCapabilities: Type.Record(Type.String(), Type.Array(paymentCapability)),
});
export type Capabilities = Static<typeof capabilities>;
