import Type, { type Static } from 'typebox';
import { claimReply, preparedOrder, receipt } from './checkout-order.ts';
import { checkoutOption, checkoutState, shownState } from './checkout-state.ts';
import { type RouteTable, route } from './route.ts';
import { idText, strictObject, text } from './schema.ts';

/**
 * The protocol between the hosted page and its server. It serves only this page: both have one version, and other
 * clients must not rely on it. Money is written as decimal strings: Micro-USD, or smallest units of a token.
 */

const address = Type.String({ pattern: '^0x[0-9a-fA-F]{40}$' });
const orderIdText = Type.String({ pattern: '^0x[0-9a-f]{64}$' });

const beginSessionBody = strictObject({
  linkId: idText,
  linkVersion: text({ max: 64 }),
  /** Micro-USD; for custom links only. */
  amount: Type.Optional(Type.String({ pattern: '^[1-9][0-9]{0,13}$' })),
});

const beginSessionReply = Type.Object({
  state: checkoutState,
  clientCode: Type.String(),
  /** The session's page, with its secret in the fragment. */
  paymentUrl: Type.String(),
  options: Type.Array(checkoutOption),
});
export type BegunSession = Static<typeof beginSessionReply>;

const prepareBody = strictObject({
  sessionId: idText,
  payer: address,
  tokenId: text({ min: 1, max: 64 }),
  payerEmail: Type.Union([
    Type.Literal(''),
    Type.String({ format: 'text', maxLength: 254, pattern: '^[^\\s@]+@[^\\s@]+\\.[^\\s@]+$' }),
  ]),
});

const balance = Type.Object({
  tokenId: Type.String(),
  /** Absent while the chain does not answer. */
  amount: Type.Optional(Type.String()),
});
export type TokenBalance = Static<typeof balance>;

const claimBody = strictObject({
  sessionId: idText,
  orderId: orderIdText,
  /** A token's contract on the order's chain; the zero address: the chain's coin. */
  token: address,
  /** rescue: the money at the deposit address. reclaim: a payment that was not settled. */
  purpose: Type.Enum(['rescue', 'reclaim']),
});

/** Language and time zone of the page, and the order whose deposit address it shows instead of the session's. */
const readerQuery = Type.Object({
  order: Type.Optional(orderIdText),
  lang: Type.Optional(text({ max: 20 })),
  zone: Type.Optional(text({ max: 64 })),
});

const prepareErrors = [
  'field_invalid',
  'session_not_found',
  'client_code_invalid',
  'session_expired',
  'session_paid',
  'session_cancelled',
  'payer_mismatch',
  'payer_not_served',
  'payer_email_required',
  'payment_token_unsupported',
  'amount_out_of_range',
  'method_not_available',
  'order_already_paid',
  'chain_unavailable',
] as const;

/** For the owner of the session's secret alone: others see the ends of each address. */
const placesReply = Type.Object({
  places: Type.Array(
    Type.Object({ orderId: Type.String(), address: Type.String(), refundAddress: Type.String() }),
  ),
});
export type WholePlaces = Static<typeof placesReply>;

const sessionParams = Type.Object({ sessionId: idText });

const read = { method: 'GET', tag: 'Hosted checkout', permissions: [], effect: 'query' } as const;
const write = { method: 'POST', tag: 'Hosted checkout', permissions: [] } as const;

/** The page's API. A session's secret is sent in the header `x-client-code`, never in a URL. */
export const checkoutApi = {
  title: 'Hosted checkout',
  basePath: '/checkout/api',
  shape: 'envelope',
  security: 'none',
  errors: ['rate_limited', 'internal'],
  routes: {
    beginSession: route({
      ...write,
      path: '/session',
      summary: 'Begin a session from a payment link',
      body: beginSessionBody,
      reply: beginSessionReply,
      effect: 'create',
      errors: [
        'field_invalid',
        'link_not_found',
        'link_archived',
        'link_not_active',
        'link_version_invalid',
        'amount_out_of_range',
      ],
    }),
    quoteLink: route({
      ...read,
      path: '/quote/:linkId/:amount',
      summary: 'Quote an amount in every token',
      params: Type.Object({ linkId: idText, amount: Type.String({ pattern: '^[1-9][0-9]{0,13}$' }) }),
      reply: Type.Object({ options: Type.Array(checkoutOption) }),
      errors: ['field_invalid', 'link_not_found', 'link_archived'],
    }),
    readSession: route({
      ...read,
      path: '/session/:sessionId',
      summary: 'Read the state of a session',
      params: sessionParams,
      query: readerQuery,
      reply: Type.Object({
        ...shownState.properties,
        options: Type.Array(checkoutOption),
        /** The server's time in Unix seconds, by which deadlines count. */
        now: Type.Integer(),
      }),
      errors: ['session_not_found'],
    }),
    readBalances: route({
      ...write,
      path: '/balances',
      summary: 'Read a payer’s token balances',
      body: strictObject({
        payer: address,
        tokenIds: Type.Array(text({ min: 1, max: 64 }), { minItems: 1, maxItems: 50 }),
      }),
      reply: Type.Object({ balances: Type.Array(balance) }),
      effect: 'query',
      errors: ['field_invalid'],
    }),
    prepareOrder: route({
      ...write,
      path: '/prepare',
      summary: 'Sign an order for a payer',
      body: prepareBody,
      reply: preparedOrder,
      effect: 'create',
      errors: [...prepareErrors],
    }),
    showDeposit: route({
      ...write,
      path: '/deposit',
      summary: 'Show an address for a plain transfer',
      body: prepareBody,
      reply: Type.Object({
        /** The order that has the address. A page without the session's secret reads the state with it. */
        orderId: Type.String(),
      }),
      effect: 'create',
      errors: [...prepareErrors],
    }),
    hideDeposit: route({
      ...write,
      path: '/deposit/hide',
      summary: 'Show no address for a plain transfer',
      body: strictObject({ sessionId: idText }),
      reply: Type.Object({}),
      effect: 'update',
      errors: ['field_invalid', 'session_not_found', 'client_code_invalid'],
    }),
    showDepositAgain: route({
      ...write,
      path: '/deposit/again',
      summary: 'Show the address again that has received a part',
      body: strictObject({
        sessionId: idText,
        /** The last characters of the address. */
        end: Type.String({ pattern: '^[0-9a-fA-F]{4}$' }),
      }),
      reply: Type.Object({}),
      effect: 'update',
      errors: ['field_invalid', 'session_not_found', 'client_code_invalid'],
    }),
    claim: route({
      ...write,
      path: '/claim',
      summary: 'List what a payer can take back, and how',
      body: claimBody,
      reply: claimReply,
      effect: 'query',
      errors: ['field_invalid', 'session_not_found', 'client_code_invalid', 'chain_unavailable'],
    }),
    readPlaces: route({
      ...read,
      path: '/session/:sessionId/places',
      summary: 'Read the whole addresses of the deposits that were asked for with the secret of a session',
      params: sessionParams,
      reply: placesReply,
      errors: ['session_not_found', 'client_code_invalid'],
    }),
    readReceipt: route({
      ...read,
      path: '/session/:sessionId/receipt',
      summary: 'Read the receipt of a paid session',
      params: sessionParams,
      reply: receipt,
      errors: ['session_not_found', 'client_code_invalid'],
    }),
  },
} as const satisfies RouteTable;
