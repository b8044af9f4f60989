import Type from 'typebox';
import { route } from './route.ts';
import { cursorPage, idText, listCursor, pageParams, strictObject } from './schema.ts';
import { session, sessionCreateBody, sessionView } from './session.ts';
import { searchReach, sessionSearchBody, sessionSearchReply } from './session-search.ts';

const sessionPage = cursorPage({ sessions: Type.Array(sessionView) });

function sessionList(path: string, summary: string, description: string) {
  return route({
    method: 'GET',
    path: `/session/list/${path}/:page/:size`,
    summary,
    description: `${description} \`page\` and \`size\` come back as numbers.`,
    tag: 'Sessions',
    params: pageParams,
    query: listCursor,
    reply: sessionPage,
    permissions: ['sessions:read'],
    effect: 'query',
    errors: ['field_invalid'],
  });
}

const write = { method: 'POST', tag: 'Sessions', permissions: ['checkout_sessions:write'] } as const;

/** Checkout sessions and session queries of the merchant API. */
export const sessionRoutes = {
  createCheckoutSession: route({
    ...write,
    path: '/session/checkout/create',
    summary: 'Create a checkout session',
    description: 'A one-time checkout. `metadata` comes back byte for byte.',
    body: sessionCreateBody,
    reply: session,
    effect: 'create',
    errors: [
      'expiration_out_of_range',
      'amount_out_of_range',
      'product_not_found',
      'products_missing',
      'product_not_active',
      'products_not_active',
      'account_not_found',
      'account_removed',
      'merchant_suspended',
      'settlement_token_not_enabled',
      'currency_unsupported',
      'channel_unsupported',
      'chain_unavailable',
      'field_invalid',
    ],
  }),
  cancelCheckoutSession: route({
    ...write,
    path: '/session/checkout/cancel',
    summary: 'Cancel a session without a signed order',
    description:
      'Cancels a session that is initialized and has signedOnce 0. After an order is signed, a payer may be paying it. Once a final block is later than the deadline of every signed order, none can be paid any more: then signedOnce is 0 again and the session can be cancelled.',
    body: strictObject({ sessionId: idText }),
    effect: 'update',
    errors: [
      'session_not_found',
      'session_expired',
      'session_paid',
      'session_cancelled',
      'session_already_signed',
    ],
  }),
  getSession: route({
    method: 'GET',
    path: '/session/:sessionId',
    summary: 'Read a session',
    description: '`transaction` is there once the payment has succeeded.',
    tag: 'Sessions',
    params: Type.Object({ sessionId: idText }),
    reply: sessionView,
    permissions: ['sessions:read', 'checkout_sessions:read'],
    effect: 'query',
    errors: ['session_not_found'],
  }),
  searchSessions: route({
    ...write,
    path: '/session/search',
    summary: 'Search sessions',
    description:
      'Sessions that meet every member of the body, newest first. New sessions and changes can be found after two ' +
      `seconds at most. One search looks at ${searchReach.toLocaleString('en')} sessions: where few of them meet a ` +
      'condition that many other sessions share, the answer is short and `hasMore` is true. Go on with `nextCursor`.',
    body: sessionSearchBody,
    reply: sessionSearchReply,
    permissions: ['sessions:read'],
    effect: 'query',
    errors: ['field_invalid'],
  }),
  listSessions: sessionList('all', 'List sessions, newest first', 'Sessions of every type and status.'),
  listInitializedSessions: sessionList(
    'initialized',
    'List sessions that wait for a payment',
    'Includes sessions whose payment was seen but is not final yet: their initiateTx is set.',
  ),
  listPaidSessions: sessionList(
    'paid',
    'List sessions that are paid',
    'The payment is final on its chain; the settlement has not begun, or the payment went back to its payer.',
  ),
  listSettlingSessions: sessionList(
    'settling',
    'List sessions that are being settled',
    'The settlement is recorded and on its way.',
  ),
  listCompletedSessions: sessionList(
    'completed',
    'List sessions that are completed',
    'The money is in the merchant’s wallet, final on its chain.',
  ),
  listCancelledSessions: sessionList(
    'cancelled',
    'List sessions that were cancelled',
    'Cancelled by the merchant before an order was signed.',
  ),
  listExpiredSessions: sessionList(
    'expired',
    'List sessions that expired',
    'Not paid in time, and no longer payable.',
  ),
  listSettlementPendingSessions: sessionList(
    'settlement/pending',
    'List sessions whose settlement is delayed',
    'Paid sessions whose settlement is retried automatically; pendingReason says why.',
  ),
} as const;
