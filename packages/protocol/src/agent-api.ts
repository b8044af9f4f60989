import Type, { type Static } from 'typebox';
import {
  agentSessionView,
  createdSessionView,
  linkView,
  preparedView,
  submitMethods,
  submittedView,
} from './agent-view.ts';
import { type RouteTable, route } from './route.ts';
import { idText, strictObject, text } from './schema.ts';

// Longer texts than any uint256 are refused here, values above 2^256 - 1 by the parser. Other spellings of a number
// ("08453", "0x2105", " 8453 ") would hash alike, so one signature would fit several messages.
const decimal = Type.String({
  pattern: '^(0|[1-9][0-9]*)$',
  maxLength: 78,
  description: 'Digits, without leading zeros',
});
const address = Type.String({
  pattern: '^0x[0-9a-fA-F]{40}$',
  description: '0x and 40 hexadecimal digits',
});
const bytes32 = Type.String({
  pattern: '^0x[0-9a-fA-F]{64}$',
  description: '0x and 64 hexadecimal digits',
});
/** The longest signature in characters: smart accounts' signatures exceed 65 bytes. */
const maxSignatureLength = 2 + 2 * 16 * 1024;
const signature = Type.String({
  pattern: '^0x([0-9a-fA-F]{2})*$',
  maxLength: maxSignatureLength,
  description: '0x and two hexadecimal digits for each byte',
});
const payerEmail = Type.Union([
  Type.Literal(''),
  Type.String({
    format: 'text',
    maxLength: 254,
    pattern: '^[^\\s@]+@[^\\s@]+$',
    description: 'Empty, or an e-mail address',
  }),
]);

/** What the payer's wallet signs for POST /payment/session/create. Integers are canonical decimal strings. */
export const createSessionMessage = strictObject({
  purpose: text({ max: 64 }),
  linkId: idText,
  linkVersion: text({ max: 64 }),
  merchantId: text({ max: 64 }),
  payer: address,
  paymentChainId: decimal,
  paymentToken: address,
  amount: decimal,
  authorizationNonce: bytes32,
  authorizationExpiresAt: decimal,
});
export type CreateSessionMessage = Static<typeof createSessionMessage>;

/** What the payer's wallet signs for POST /payment/prepare. Integers are canonical decimal strings. */
export const preparePaymentMessage = strictObject({
  purpose: text({ max: 64 }),
  sessionId: idText,
  merchantId: text({ max: 64 }),
  payer: address,
  payerEmail,
  paymentChainId: decimal,
  paymentToken: address,
  authorizationNonce: bytes32,
  authorizationExpiresAt: decimal,
});
export type PreparePaymentMessage = Static<typeof preparePaymentMessage>;

export const createSessionBody = strictObject({ message: createSessionMessage, signature });
export type CreateSessionBody = Static<typeof createSessionBody>;

export const preparePaymentBody = strictObject({ message: preparePaymentMessage, signature });
export type PreparePaymentBody = Static<typeof preparePaymentBody>;

export const submitPaymentBody = strictObject({
  sessionId: idText,
  method: Type.Enum(submitMethods),
  signature,
  orderId: Type.Optional({
    ...bytes32,
    description:
      'The order that the signature is for, as prepare names it. Without it the service compares the newest orders of the session',
  }),
});
export type SubmitPaymentBody = Static<typeof submitPaymentBody>;

/** The refusals of both signed requests, in the order of the checks. */
const authorizationErrors = [
  'field_invalid',
  'nonce_used',
  'purpose_mismatch',
  'merchant_mismatch',
  'payment_token_unsupported',
  'authorization_expired',
  'authorization_too_far',
  'signature_invalid',
  'chain_unavailable',
] as const;

const read = { method: 'GET', tag: 'AI protocol', permissions: [], effect: 'query' } as const;
const write = { method: 'POST', tag: 'AI protocol', permissions: [], effect: 'create' } as const;

/** The AI protocol. It has no API key: the payer's EIP-712 signature authorizes every change. */
export const agentApi = {
  title: 'AI protocol',
  basePath: '/aipay/api/v1',
  shape: 'superset',
  security: 'none',
  errors: ['rate_limited', 'internal'],
  routes: {
    getPaymentLink: route({
      ...read,
      path: '/payment/link/:linkId',
      summary: 'Read a payment link',
      description: 'What the link sells, which tokens pay for it, and the message to sign for a new session.',
      params: Type.Object({ linkId: idText }),
      reply: linkView,
      errors: ['link_not_found', 'link_archived'],
    }),
    createPaymentSession: route({
      ...write,
      path: '/payment/session/create',
      summary: 'Create a payment session',
      description:
        'The same request again answers the session that the first one created, so retries are safe.',
      body: createSessionBody,
      reply: createdSessionView,
      errors: [
        ...authorizationErrors,
        'link_not_found',
        'link_archived',
        'link_not_active',
        'link_version_invalid',
        'payer_not_served',
        'amount_mismatch',
        'amount_out_of_range',
      ],
    }),
    getPaymentSession: route({
      ...read,
      path: '/session/:sessionId',
      summary: 'Read a session',
      description:
        'The state of the session, and the message to sign for its payment. A session that its merchant has made by API has no ' +
        'payer and no token yet. Then `aiView` holds `completePaymentSessionGuide` in place of `supportedPaymentTokens` and ' +
        '`preparePaymentRequirement`, and both are inside it: choose a token there, then sign.',
      params: Type.Object({ sessionId: idText }),
      reply: agentSessionView,
      errors: ['session_not_found'],
    }),
    preparePayment: route({
      ...write,
      path: '/payment/prepare',
      summary: 'Prepare the payment transaction',
      description: 'The same request again answers the same order, so retries are safe.',
      body: preparePaymentBody,
      reply: preparedView,
      errors: [
        ...authorizationErrors,
        'session_not_found',
        'session_expired',
        'session_paid',
        'session_cancelled',
        'order_already_paid',
        'payer_mismatch',
        'payer_not_served',
        'payer_email_required',
        'amount_out_of_range',
        'method_not_available',
      ],
    }),
    submitPayment: route({
      ...write,
      path: '/payment/submit',
      summary: 'Pay by a signature alone',
      description:
        "Takes the payer's signature over the typed data of one of the alternatives that prepare answered, and sends the " +
        'payment at the cost of the service. The same request again answers the same payment, so retries are safe.',
      body: submitPaymentBody,
      reply: submittedView,
      errors: [
        'field_invalid',
        'session_not_found',
        'session_expired',
        'session_paid',
        'session_cancelled',
        'signature_invalid',
        'payer_not_served',
        'method_not_available',
        'order_already_paid',
        'chain_unavailable',
      ],
    }),
  },
} as const satisfies RouteTable;
