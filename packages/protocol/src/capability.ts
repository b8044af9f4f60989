import Type, { type Static } from 'typebox';

/** A token that a merchant can be settled in, or that a payer can pay with. */
export const supportedToken = Type.Object({
  tokenId: Type.String({ description: '`<chain>::<token>`' }),
  symbol: Type.String(),
  chainId: Type.String(),
  decimals: Type.Integer(),
});

/** Whether a way to pay is open, and why not. */
export const routeStatus = Type.Union(
  [Type.Literal('available'), Type.Literal('delayed'), Type.Literal('unavailable')],
  {
    description:
      '`delayed`: payments take longer than usual. `unavailable`: new ones are refused with 900401',
  },
);
export const routeStatusReason = Type.String({
  description:
    '`chain_halted`, `chain_lagging`, `chain_not_followed`, `chain_unreachable` (no node has answered for 20 seconds), ' +
    '`chain_unverified` (not compared with the configuration yet), `token_paused` (by its issuer) or `token_stopped` (by the ' +
    'operator); empty while available',
});

/** One token that can pay for a settlement token, and its terms. Values in Micro-USD. */
export const paymentCapability = Type.Object({
  tokenId: Type.String(),
  crosschain: Type.Boolean(),
  feeRatePPM: Type.Integer(),
  minPaymentValue: Type.Integer({
    description: 'Micro-USD: the least price that is accepted with feeModel 1',
  }),
  maxPaymentValue: Type.Integer({ description: 'Micro-USD: the highest price that is accepted' }),
  etaSeconds: Type.Integer({
    description:
      'Time from the payment to the merchant in seconds, as measured on the chains over the last minutes; for accounts ' +
      'that leave the settlement mode to the installation',
  }),
  finality: Type.String({ description: 'When a payment counts as final on the payer’s chain' }),
  methods: Type.Array(Type.String(), {
    description:
      'Ways to pay with this token. `transaction` and `eip5792`: by the payer’s own wallet; `eip3009` and `permit2`: by a ' +
      'signature, without gas; `deposit`: a plain transfer to an address; `x402`',
  }),
  status: routeStatus,
  statusReason: routeStatusReason,
});

export const capabilities = Type.Object({
  supportedTokens: Type.Array(supportedToken),
  paymentCapabilities: Type.Record(Type.String(), Type.Array(paymentCapability)),
});
export type Capabilities = Static<typeof capabilities>;
