import Type, { type Static } from 'typebox';
import { workflow } from './agent.ts';
import { sessionStatuses, sessionTypes } from './session.ts';

/** What the AI protocol answers. Amounts in tokens are decimal strings of smallest units, amounts in USD decimal strings. */

export const supportedPaymentToken = Type.Object({
  chainName: Type.String(),
  chainId: Type.String(),
  tokenAddress: Type.String(),
  name: Type.String(),
  symbol: Type.String(),
  decimals: Type.Integer(),
  /** What the payer pays in all, the fee of fee model 2 included; "0" where the payer chooses. */
  amountInToken: Type.String(),
  amountInUSD: Type.String(),
});
export type SupportedPaymentToken = Static<typeof supportedPaymentToken>;

export const pricingModel = Type.Object({
  type: Type.Union([Type.Literal('fixed'), Type.Literal('custom')]),
  minAmountInUSD: Type.Optional(Type.String()),
  maxAmountInUSD: Type.Optional(Type.String()),
});
export type PricingModel = Static<typeof pricingModel>;

const typedFields = Type.Array(Type.Object({ name: Type.String(), type: Type.String() }));
const message = Type.Record(Type.String(), Type.String());
const domain = Type.Object({ name: Type.String(), version: Type.String(), chainId: Type.Integer() });

export const authorizationSpec = Type.Object({
  type: Type.Literal('eip712'),
  purpose: Type.String(),
  domain,
  types: Type.Record(Type.String(), typedFields),
  /** Additive: where domain.chainId comes from when the payer chooses another chain. */
  chainIdFrom: Type.Literal('paymentChainId'),
  /** Additive: ready for eth_signTypedData_v4 once what the template leaves out is filled in. */
  typedData: Type.Object({
    types: Type.Record(Type.String(), typedFields),
    primaryType: Type.String(),
    domain,
    message,
  }),
});
export type AuthorizationSpec = Static<typeof authorizationSpec>;

export const authorizationRequirement = Type.Object({
  authorizationRequired: Type.Boolean(),
  authorizationSpec,
  /** Absent where nothing can be signed. Values not known to the service are left out. */
  messageTemplate: Type.Optional(message),
});
export type AuthorizationRequirement = Static<typeof authorizationRequirement>;

export const agentLineItem = Type.Object({
  quantity: Type.Integer(),
  productData: Type.Object({
    productName: Type.String(),
    productDescription: Type.String(),
    imageUrl: Type.String(),
    attributes: Type.Array(Type.Object({ name: Type.String(), value: Type.String() })),
  }),
  unitPriceInUSD: Type.String(),
});
export type AgentLineItem = Static<typeof agentLineItem>;

export const linkView = Type.Object({
  merchantId: Type.String(),
  linkId: Type.String(),
  linkVersion: Type.String(),
  linkName: Type.String(),
  lineItems: Type.Array(agentLineItem),
  payerEmailRequired: Type.Boolean(),
  /** Present while the link is disabled. */
  customDisabledText: Type.Optional(Type.String()),
  aiView: Type.Object({
    pricingModel,
    supportedPaymentTokens: Type.Array(supportedPaymentToken),
    createPaymentSessionRequirement: Type.Optional(authorizationRequirement),
    workflow,
  }),
});
export type LinkView = Static<typeof linkView>;

export const completePaymentSessionGuide = Type.Object({
  description: Type.String(),
  requiredFields: Type.Array(Type.String()),
  payerEmailRequired: Type.Boolean(),
  amountInUSD: Type.String(),
  supportedPaymentTokens: Type.Array(supportedPaymentToken),
  preparePaymentRequirement: authorizationRequirement,
  handoffUrl: Type.String(),
});

export const sessionAiView = Type.Object({
  pricingModel,
  /** The token chosen at creation. */
  supportedPaymentTokens: Type.Optional(Type.Array(supportedPaymentToken)),
  preparePaymentRequirement: Type.Optional(authorizationRequirement),
  completePaymentSessionGuide: Type.Optional(completePaymentSessionGuide),
  workflow,
});
export type SessionAiView = Static<typeof sessionAiView>;

export const agentSessionView = Type.Object({
  sessionId: Type.String(),
  sessionType: Type.Enum(sessionTypes),
  merchantId: Type.String(),
  status: Type.Enum(sessionStatuses),
  sessionExpiresAt: Type.Integer(),
  payerEmailRequired: Type.Boolean(),
  amountInUSD: Type.String(),
  lineItems: Type.Array(agentLineItem),
  /** Hash of the payment transaction once it is seen, and of the settlement transaction once it is final. */
  initiateTx: Type.String(),
  completeTx: Type.String(),
  aiView: sessionAiView,
});
export type AgentSessionView = Static<typeof agentSessionView>;

export const createdSessionView = Type.Object({
  sessionId: Type.String(),
  sessionType: Type.Enum(sessionTypes),
  sessionExpiresAt: Type.Integer(),
  /** True when this authorization had already created the session. */
  replayed: Type.Optional(Type.Literal(true)),
  aiView: sessionAiView,
});
export type CreatedSessionView = Static<typeof createdSessionView>;

export const txRequest = Type.Object({
  chainId: Type.String(),
  to: Type.String(),
  data: Type.String(),
  value: Type.String(),
});
export type TxRequest = Static<typeof txRequest>;

export const prerequisite = Type.Object({
  purpose: Type.Union([Type.Literal('reset_allowance'), Type.Literal('approve_exact_amount')]),
  description: Type.String(),
  txRequest,
});
export type Prerequisite = Static<typeof prerequisite>;

export const preparedView = Type.Object({
  sessionId: Type.String(),
  calldata: Type.String(),
  executionChainId: Type.String(),
  executorContract: Type.String(),
  /** True when this authorization had already prepared the order. */
  replayed: Type.Optional(Type.Literal(true)),
  aiView: Type.Object({
    pricingModel,
    paymentExecutionGuide: Type.Object({
      authorizationRequired: Type.Literal(false),
      executionRequest: Type.Object({
        purpose: Type.Literal('execute_payment_guide'),
        sessionId: Type.String(),
        txRequest,
        userReview: Type.Object({ description: Type.String(), irreversible: Type.Boolean() }),
      }),
      /** Transactions to send first, in order; empty when the allowance suffices. */
      prerequisites: Type.Array(prerequisite),
      alternatives: Type.Array(Type.Object({ method: Type.String() })),
      order: Type.Object({ orderId: Type.String(), deadline: Type.String() }),
      handoff: Type.Object({ paymentUrl: Type.String() }),
    }),
    workflow,
  }),
});
export type PreparedView = Static<typeof preparedView>;
