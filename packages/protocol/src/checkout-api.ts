import Type, { type Static } from 'typebox';
import { routeStatus } from './capability.ts';
import { claimReply, preparedOrder, receipt } from './checkout-order.ts';
import { type RouteTable, route } from './route.ts';
import { idText, text } from './schema.ts';
import { sessionDeposit, sessionStatuses } from './session.ts';

/**
 * The protocol between the hosted page and its server. It serves only this page: both have one version, and other
 * clients must not rely on it. Money is written as decimal strings: Micro-USD, or smallest units of a token.
 */

const address = Type.String({ pattern: '^0x[0-9a-fA-F]{40}$' });
const orderIdText = Type.String({ pattern: '^0x[0-9a-f]{64}$' });

/** One token on one chain that can pay, with its cost. */
export const checkoutOption = Type.Object({
  tokenId: Type.String(),
  chainId: Type.String(),
  chainTitle: Type.String(),
  symbol: Type.String(),
  decimals: Type.Integer(),
  /** The payer's total; "0" while the payer has not chosen an amount. */
  amountInToken: Type.String(),
  total: Type.String(),
  /** The part of the total that is a fee on top of the price; "0" when the merchant pays it. */
  fee: Type.String(),
  /** Before the payer chooses an amount: the lowest and highest price that this token accepts, in Micro-USD. */
  least: Type.Optional(Type.String()),
  most: Type.Optional(Type.String()),
  status: routeStatus,
  secondsToFinal: Type.Integer(),
});
export type CheckoutOption = Static<typeof checkoutOption>;

/** A one-use address: a transfer of the exact amount to it pays, from any sender. */
const shownDeposit = Type.Object({
  /** The order that a wallet pays instead. */
  orderId: Type.String(),
  tokenId: Type.String(),
  address: Type.String(),
  /** Where money goes that does not pay, shortened: others who have the page's link need not know it. */
  refundTo: Type.String(),
  amountInToken: Type.String(),
  /** EIP-681, for wallets that read it. */
  transferUri: Type.String(),
  /** Unix seconds: the last block time at which a transfer is in time. */
  payUntil: Type.Integer(),
  /** The least amount that counts as paid, where it is less than the full amount. */
  leastInToken: Type.Optional(Type.String()),
  /** Unix seconds: until then a late deposit may be accepted. */
  lateUntil: Type.Optional(Type.Integer()),
});
export type ShownDeposit = Static<typeof shownDeposit>;

const pageDeposit = Type.Object({
  ...sessionDeposit.properties,
  /** The wallet's order of an address that was asked for without the session's secret: only the page that asked shows it. */
  onlyFor: Type.Optional(Type.String()),
  /** Present where it is at the address that the session's pages show. */
  isShown: Type.Optional(Type.Literal(true)),
});
export type PageDeposit = Static<typeof pageDeposit>;

/** The state of a session, as its page shows it. It contains no secrets. */
export const checkoutState = Type.Object({
  sessionId: Type.String(),
  status: Type.Enum(sessionStatuses),
  /** Whether a payment may still begin. */
  isPayable: Type.Boolean(),
  /** Present once an order was signed for a payer: money may be on its way. */
  isSigned: Type.Optional(Type.Literal(true)),
  /** Unix seconds. */
  expiresAt: Type.Integer(),
  /** Price in Micro-USD. */
  amount: Type.String(),
  initiateTx: Type.String(),
  completeTx: Type.String(),
  pendingReason: Type.String(),
  /** The seen payment, as its chain shows it, and its depth. */
  payment: Type.Optional(
    Type.Object({
      tokenId: Type.String(),
      chainId: Type.String(),
      /**
       * Of a deposit it is the refund address: anyone may have sent the money. Shortened: payers know theirs, and others who
       * have the page's link need not.
       */
      payer: Type.String(),
      isDeposit: Type.Boolean(),
      /** What the payer paid in all, and the part of it that is a fee on top of the price. */
      amountInToken: Type.String(),
      total: Type.String(),
      fee: Type.String(),
      confirmations: Type.Integer(),
      /** About how many confirmations a payment needs at present to be final. */
      confirmationsWanted: Type.Integer(),
    }),
  ),
  /** ISO 8601, or empty. */
  paidAt: Type.String(),
  settledAt: Type.String(),
  /** The receipt's number; empty before the payment is final. */
  receiptId: Type.String(),
  /**
   * What the receipt calls the merchant: the names when the payment became final. Absent before that, and for payments from
   * before such names were kept: then pages show the present names.
   */
  receiptNames: Type.Optional(Type.Object({ merchant: Type.String(), legalName: Type.String() })),
  /** Where the receipt goes by e-mail, shortened: others who have the page's link need not know it. */
  receiptTo: Type.Optional(Type.String()),
  /** What has arrived at deposit addresses while the payment is incomplete. */
  deposits: Type.Array(pageDeposit),
  /**
   * What has arrived at addresses that other pages asked for without the session's secret. It may be a stranger's, so that the
   * page names the end of the address alone.
   */
  apart: Type.Optional(Type.Array(sessionDeposit)),
  /** While a payment may begin: the address that the session's pages show for plain transfers. */
  shownDeposit: Type.Optional(shownDeposit),
  /** Money that arrived and paid nothing. */
  exceptions: Type.Array(
    Type.Object({
      kind: Type.Enum(['underpaid', 'overpaid', 'late', 'wrong_token', 'duplicate']),
      tokenId: Type.String(),
      symbol: Type.String(),
      decimals: Type.Integer(),
      amount: Type.String(),
      /**
       * goes: goes back by itself. by_hand: too little for that; anyone with a wallet can send it back. waits: the
       * merchant may accept it until `heldUntil`; then it goes, or waits_by_hand. goes_later: the merchant refused it;
       * it goes after that. second: a second payment by a wallet, which goes back unless the merchant accepts it first.
       * taken: the merchant accepted it. accepted: it came late or short, and becomes the payment. closed: the merchant
       * marked it as resolved. back: the payer has it.
       */
      outcome: Type.Enum([
        'goes',
        'by_hand',
        'waits',
        'waits_by_hand',
        'goes_later',
        'second',
        'taken',
        'accepted',
        'closed',
        'back',
      ]),
      /** Unix seconds; 0 where nothing waits. */
      heldUntil: Type.Integer(),
      /** Whether its order was asked for without the session's secret, so that it need not be of the secret's owner. */
      isUnproven: Type.Boolean(),
      /** The transaction that gave it back, and its chain. */
      returned: Type.Optional(Type.Object({ tx: Type.String(), chainId: Type.String() })),
    }),
  ),
  refunded: Type.String({ description: 'Micro-USD that went back to the payer' }),
  /** Whether that is everything that the payer paid. */
  isRefunded: Type.Boolean(),
  /** Only once paid: the merchant's message. */
  successText: Type.Optional(Type.String()),
  /** The way ahead to the shop, once a block has the payment. */
  successUrl: Type.Optional(Type.String()),
  /** Present where the page opens `successUrl` by itself. */
  returnsAlone: Type.Optional(Type.Literal(true)),
  /** The way back to the shop, while no block has a payment. */
  cancelUrl: Type.Optional(Type.String()),
});
export type CheckoutState = Static<typeof checkoutState>;

/** A state with the part of the page that shows it, as a tree of elements, and the page's title. */
const shownState = Type.Object({ state: checkoutState, view: Type.Unknown(), title: Type.String() });
export type ShownState = Static<typeof shownState>;

const beginSessionBody = Type.Object(
  {
    linkId: idText,
    linkVersion: text({ max: 64 }),
    /** Micro-USD; for custom links only. */
    amount: Type.Optional(Type.String({ pattern: '^[1-9][0-9]{0,13}$' })),
  },
  { additionalProperties: false },
);

const beginSessionReply = Type.Object({
  state: checkoutState,
  clientCode: Type.String(),
  /** The session's page, with its secret in the fragment. */
  paymentUrl: Type.String(),
  options: Type.Array(checkoutOption),
});
export type BegunSession = Static<typeof beginSessionReply>;

const prepareBody = Type.Object(
  {
    sessionId: idText,
    payer: address,
    tokenId: text({ min: 1, max: 64 }),
    payerEmail: Type.Union([
      Type.Literal(''),
      Type.String({ format: 'text', maxLength: 254, pattern: '^[^\\s@]+@[^\\s@]+\\.[^\\s@]+$' }),
    ]),
  },
  { additionalProperties: false },
);

const balance = Type.Object({
  tokenId: Type.String(),
  /** Absent while the chain does not answer. */
  amount: Type.Optional(Type.String()),
});
export type TokenBalance = Static<typeof balance>;

const claimBody = Type.Object(
  {
    sessionId: idText,
    orderId: orderIdText,
    /** A token's contract on the order's chain; the zero address: the chain's coin. */
    token: address,
    /** rescue: the money at the deposit address. reclaim: a payment that was not settled. */
    purpose: Type.Enum(['rescue', 'reclaim']),
  },
  { additionalProperties: false },
);

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

/** The page's API. A session's secret is sent in the header `x-client-code`, never in a URL. */
export const checkoutApi = {
  title: 'Hosted checkout',
  basePath: '/checkout/api',
  shape: 'envelope',
  security: 'none',
  errors: ['rate_limited', 'internal'],
  routes: {
    beginSession: route({
      method: 'POST',
      path: '/session',
      summary: 'Begin a session from a payment link',
      tag: 'Hosted checkout',
      body: beginSessionBody,
      reply: beginSessionReply,
      permissions: [],
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
      method: 'GET',
      path: '/quote/:linkId/:amount',
      summary: 'Quote an amount in every token',
      tag: 'Hosted checkout',
      params: Type.Object({ linkId: idText, amount: Type.String({ pattern: '^[1-9][0-9]{0,13}$' }) }),
      reply: Type.Object({ options: Type.Array(checkoutOption) }),
      permissions: [],
      effect: 'query',
      errors: ['field_invalid', 'link_not_found', 'link_archived'],
    }),
    readSession: route({
      method: 'GET',
      path: '/session/:sessionId',
      summary: 'Read the state of a session',
      tag: 'Hosted checkout',
      params: sessionParams,
      query: readerQuery,
      reply: Type.Object({
        ...shownState.properties,
        options: Type.Array(checkoutOption),
        /** The server's time in Unix seconds, by which deadlines count. */
        now: Type.Integer(),
      }),
      permissions: [],
      effect: 'query',
      errors: ['session_not_found'],
    }),
    readBalances: route({
      method: 'POST',
      path: '/balances',
      summary: 'Read a payer’s token balances',
      tag: 'Hosted checkout',
      body: Type.Object(
        {
          payer: address,
          tokenIds: Type.Array(text({ min: 1, max: 64 }), { minItems: 1, maxItems: 50 }),
        },
        { additionalProperties: false },
      ),
      reply: Type.Object({ balances: Type.Array(balance) }),
      permissions: [],
      effect: 'query',
      errors: ['field_invalid'],
    }),
    prepareOrder: route({
      method: 'POST',
      path: '/prepare',
      summary: 'Sign an order for a payer',
      tag: 'Hosted checkout',
      body: prepareBody,
      reply: preparedOrder,
      permissions: [],
      effect: 'create',
      errors: [...prepareErrors],
    }),
    showDeposit: route({
      method: 'POST',
      path: '/deposit',
      summary: 'Show an address for a plain transfer',
      tag: 'Hosted checkout',
      body: prepareBody,
      reply: Type.Object({
        /** The order that has the address. A page without the session's secret reads the state with it. */
        orderId: Type.String(),
      }),
      permissions: [],
      effect: 'create',
      errors: [...prepareErrors],
    }),
    hideDeposit: route({
      method: 'POST',
      path: '/deposit/hide',
      summary: 'Show no address for a plain transfer',
      tag: 'Hosted checkout',
      body: Type.Object({ sessionId: idText }, { additionalProperties: false }),
      reply: Type.Object({}),
      permissions: [],
      effect: 'update',
      errors: ['field_invalid', 'session_not_found', 'client_code_invalid'],
    }),
    showDepositAgain: route({
      method: 'POST',
      path: '/deposit/again',
      summary: 'Show the address again that has received a part',
      tag: 'Hosted checkout',
      body: Type.Object(
        {
          sessionId: idText,
          /** The last characters of the address. */
          end: Type.String({ pattern: '^[0-9a-fA-F]{4}$' }),
        },
        { additionalProperties: false },
      ),
      reply: Type.Object({}),
      permissions: [],
      effect: 'update',
      errors: ['field_invalid', 'session_not_found', 'client_code_invalid'],
    }),
    claim: route({
      method: 'POST',
      path: '/claim',
      summary: 'List what a payer can take back, and how',
      tag: 'Hosted checkout',
      body: claimBody,
      reply: claimReply,
      permissions: [],
      effect: 'query',
      errors: ['field_invalid', 'session_not_found', 'client_code_invalid', 'chain_unavailable'],
    }),
    readPlaces: route({
      method: 'GET',
      path: '/session/:sessionId/places',
      summary: 'Read the whole addresses of the deposits that were asked for with the secret of a session',
      tag: 'Hosted checkout',
      params: sessionParams,
      reply: placesReply,
      permissions: [],
      effect: 'query',
      errors: ['session_not_found', 'client_code_invalid'],
    }),
    readReceipt: route({
      method: 'GET',
      path: '/session/:sessionId/receipt',
      summary: 'Read the receipt of a paid session',
      tag: 'Hosted checkout',
      params: sessionParams,
      reply: receipt,
      permissions: [],
      effect: 'query',
      errors: ['session_not_found', 'client_code_invalid'],
    }),
  },
} as const satisfies RouteTable;
