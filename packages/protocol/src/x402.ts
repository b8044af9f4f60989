import Type, { type Static } from 'typebox';

/** x402 version 2 over HTTP: the contents of its headers as base64 of JSON (github.com/coinbase/x402, specs). */

const address = Type.String({ pattern: '^0x[0-9a-fA-F]{40}$' });
const decimal = Type.String({ pattern: '^(0|[1-9][0-9]*)$', maxLength: 78 });

/** One way to pay. `extra` holds the token's EIP-712 domain, which the exact scheme needs, and our own offer. */
export const x402Requirements = Type.Object({
  scheme: Type.Literal('exact'),
  network: Type.String({ pattern: '^eip155:[1-9][0-9]{0,14}$' }),
  amount: decimal,
  asset: address,
  payTo: address,
  maxTimeoutSeconds: Type.Integer({ minimum: 1 }),
  extra: Type.Object({
    name: Type.String({ maxLength: 256 }),
    version: Type.String({ maxLength: 64 }),
    /** The terms of the deposit address; opaque to clients. */
    offer: Type.String({ maxLength: 1024 }),
  }),
});
export type X402Requirements = Static<typeof x402Requirements>;

/** In the header PAYMENT-SIGNATURE. Unlisted members are ignored: clients may add some. */
export const x402Payment = Type.Object({
  x402Version: Type.Literal(2),
  accepted: x402Requirements,
  payload: Type.Object({
    signature: Type.String({ pattern: '^0x([0-9a-fA-F]{2})*$', maxLength: 32_770 }),
    authorization: Type.Object({
      from: address,
      to: address,
      value: decimal,
      validAfter: decimal,
      validBefore: decimal,
      nonce: Type.String({ pattern: '^0x[0-9a-fA-F]{64}$' }),
    }),
  }),
});
export type X402Payment = Static<typeof x402Payment>;

/** In the header PAYMENT-REQUIRED, and in its body. */
export const x402Required = Type.Object({
  x402Version: Type.Literal(2),
  error: Type.String({ description: 'Why the payment that came was not taken, or that none came' }),
  resource: Type.Object({
    url: Type.String(),
    description: Type.String(),
    mimeType: Type.String(),
  }),
  accepts: Type.Array(x402Requirements, {
    minItems: 1,
    description:
      'One way for each token that takes EIP-3009 authorizations, each to a deposit address of its own',
  }),
});
export type X402Required = Static<typeof x402Required>;

/** In the header PAYMENT-RESPONSE. */
export interface X402Settlement {
  readonly success: boolean;
  readonly transaction: string;
  readonly network: string;
  readonly payer: string;
  readonly errorReason?: 'settlement_pending';
}

/** The body of an answer to a payment. */
export const x402Receipt = Type.Object({
  sessionId: Type.String(),
  status: Type.String({
    description:
      'As the AI protocol says it; `settlement_pending`: sent, and not known to be in a block yet, or no longer, because the chain contradicts blocks that were final. Ask again',
  }),
  txHash: Type.String({ description: 'The transaction of the payment' }),
  network: Type.String({ description: 'CAIP-2, such as `eip155:8453`' }),
  payer: Type.String({ description: 'Who has signed' }),
});
export type X402Receipt = Static<typeof x402Receipt>;
