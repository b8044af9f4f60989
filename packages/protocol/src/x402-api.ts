import Type from 'typebox';
import { type RouteTable, route } from './route.ts';
import { idText } from './schema.ts';
import { x402Receipt, x402Required } from './x402.ts';

const address = '^0x[0-9a-fA-F]{40}$';

/** The answers of both resources besides success, and the header that pays. */
const exchange = {
  headers: Type.Object({
    'PAYMENT-SIGNATURE': Type.Optional(
      Type.String({
        description:
          'Base64 of the JSON of a signed payment of x402 version 2, for one of the offers of the 402',
      }),
    ),
  }),
  steps: {
    '202': {
      description:
        'The payment was sent, and no block shows it yet, or its chain contradicts blocks that were final. PAYMENT-RESPONSE says so with errorReason ' +
        '`settlement_pending` and its transaction. The same request asks again, and never pays twice.',
      reply: x402Receipt,
      headers: { 'PAYMENT-RESPONSE': 'Base64 of the JSON of the outcome' },
    },
    '402': {
      description: 'What to pay. Also the answer to a refused payment, of which nothing was sent.',
      body: x402Required,
      headers: { 'PAYMENT-REQUIRED': 'Base64 of the JSON of the body' },
    },
  },
} as const;

const reply = x402Receipt;

/** x402 version 2: payment links and sessions as resources that a stock client pays for. */
export const x402Api = {
  title: 'x402',
  basePath: '/aipay/x402',
  shape: 'superset',
  security: 'none',
  errors: ['rate_limited', 'internal'],
  // Stock clients read only statuses: 410 means that a retry is useless, 409 that another payment paid.
  statuses: {
    ...{ link_not_found: 404, session_not_found: 404 },
    ...{ link_archived: 410, link_not_active: 410, account_removed: 410 },
    ...{ session_expired: 410, session_cancelled: 410 },
    ...{ session_paid: 409, order_already_paid: 409 },
    ...{ field_invalid: 400, amount_out_of_range: 400, payer_email_required: 400 },
    ...{ payment_token_unsupported: 400, method_not_available: 400, payer_not_served: 400 },
    create_failed: 503,
  },
  routes: {
    payLinkByX402: route({
      method: 'GET',
      path: '/link/:linkId',
      summary: 'Pay a link by x402',
      description:
        'Answers 402 with offers; the same request with PAYMENT-SIGNATURE pays one of them, creates the session and ' +
        'answers its receipt. The session’s payer is the wallet that signed, also where others brought the money to the ' +
        'address of the offer. The same request again gets the same receipt; another authorization for a paid offer ' +
        'is refused with 409. A link whose payer chooses the amount needs `amountInUSD`. Links that ask for an e-mail ' +
        'address are refused with 100610: x402 has no field for one, but the AI protocol does.',
      tag: 'x402',
      params: Type.Object({ linkId: idText }),
      query: Type.Object({
        payer: Type.Optional(
          Type.String({
            pattern: address,
            description:
              'The address that refunds go to. Without it the gateway cannot refund: the offer is made ' +
              'before the payer is known, and names the merchant’s wallet instead',
          }),
        ),
        amountInUSD: Type.Optional(
          Type.String({
            pattern: '^(0|[1-9][0-9]{0,9})(\\.[0-9]{1,6})?$',
            description: 'The total that the payer chooses; only for links with an open amount',
          }),
        ),
      }),
      ...exchange,
      reply,
      permissions: [],
      effect: 'create',
      errors: [
        'link_not_found',
        'link_archived',
        'link_not_active',
        'account_removed',
        'session_expired',
        'session_paid',
        'order_already_paid',
        'amount_out_of_range',
        'payer_email_required',
        'payer_not_served',
        'method_not_available',
        'payment_token_unsupported',
        'chain_unavailable',
      ],
    }),
    paySessionByX402: route({
      method: 'GET',
      path: '/session/:sessionId',
      summary: 'Pay a session by x402',
      description:
        'Answers 402 with offers; the same request with PAYMENT-SIGNATURE pays one of them and answers its receipt. ' +
        'The same request again gets the same receipt. Pay by the signature alone: the service looks at an address of an ' +
        'offer only once a payment was presented for it, or once `POST /checkout/api/deposit` asks for a deposit address with ' +
        'the same payer, which is the same address. Then money that a plain transfer brought counts, and what pays nothing ' +
        'goes back to `payer`. Sessions that ask for an e-mail address are refused with 100610.',
      tag: 'x402',
      params: Type.Object({ sessionId: idText }),
      query: Type.Object({
        payer: Type.String({
          pattern: address,
          description:
            'The address that gets the money back when another payer pays the session first; 400 without it',
        }),
      }),
      ...exchange,
      reply,
      permissions: [],
      effect: 'create',
      errors: [
        'session_not_found',
        'session_cancelled',
        'session_expired',
        'session_paid',
        'order_already_paid',
        'payer_email_required',
        'payer_not_served',
        'method_not_available',
        'payment_token_unsupported',
        'amount_out_of_range',
        'chain_unavailable',
      ],
    }),
  },
} as const satisfies RouteTable;
