import Type from 'typebox';
import { refund, refundCancelBody, refundCreateBody } from './refund.ts';
import { route } from './route.ts';
import { cursorPage, idText, listCursor, pageParams, strictObject } from './schema.ts';

/** `?after=&sessionId=` of the refund list. */
export const refundFilter = strictObject({
  ...listCursor.properties,
  sessionId: Type.Optional({ ...idText, description: 'Of this session alone' }),
});

const read = { method: 'GET', tag: 'Refunds', permissions: ['refunds:read'], effect: 'query' } as const;
const write = { method: 'POST', tag: 'Refunds', permissions: ['refunds:write'] } as const;

/** Refunds of the merchant API. */
export const refundRoutes = {
  createRefund: route({
    ...write,
    path: '/refund/create',
    summary: 'Refund a payment to its payer',
    description:
      'Before the settlement the platform returns the whole payment on chain: the refund is pending ' +
      'until that is final. After the settlement the money is yours: the refund is requires_signature, and your wallet ' +
      'sends prerequisites and txRequest. That wallet needs requiredBalance: the token that the payer paid, on the ' +
      'chain of the payment, also where you were settled in another token or on another chain. The gateway pays only the ' +
      'recorded payer, in parts if you like, and never more than the payment. What the operator added to a short deposit ' +
      '(addedValue of the transaction) the payer did not pay, so a refund leaves it out. A refund that requires_signature counts ' +
      'against what is left until it is completed, failed or cancelled: what exceeds the rest is refused with 100701. To ' +
      'create one refund only, send an Idempotency-Key. While a settlement is under way the answer is ' +
      '100702. The status of the session does not change, but its refundedAmount does. With `exceptionId` a second ' +
      'payment goes back that was settled to you: in full, or in parts, and never more than it was. The refundedAmount of ' +
      'the session does not count it, and the exception is resolved once all of it is back.',
    body: refundCreateBody,
    reply: refund,
    effect: 'create',
    errors: [
      'session_not_found',
      'exception_not_found',
      'refund_exceeds',
      'refund_not_possible',
      'chain_unavailable',
    ],
  }),
  cancelRefund: route({
    ...write,
    path: '/refund/cancel',
    summary: 'Cancel a refund that waits for your wallet',
    description:
      'Only while the status is requires_signature, no wallet was asked in the dashboard to sign it, and the chain shows no ' +
      'return of its amount. A transaction of it that you signed before can still be mined: then the refund becomes completed ' +
      'after all, and counts once. Cancelling it again changes nothing.',
    body: refundCancelBody,
    reply: refund,
    effect: 'update',
    errors: ['refund_not_found', 'refund_being_signed', 'refund_not_cancellable'],
  }),
  getRefund: route({
    ...read,
    path: '/refund/:refundId',
    summary: 'Read a refund',
    description: '`status` is requires_signature or pending until the transaction is final on its chain.',
    params: Type.Object({ refundId: idText }),
    reply: refund,
    errors: ['refund_not_found'],
  }),
  listRefunds: route({
    ...read,
    path: '/refund/list/:page/:size',
    summary: 'List refunds, newest first',
    description: 'Of every status, of all sessions or of one.',
    params: pageParams,
    query: refundFilter,
    reply: cursorPage({ refunds: Type.Array(refund) }),
    errors: ['field_invalid'],
  }),
} as const;
