import Type, { type Static } from 'typebox';
import { deliveryStatuses } from './delivery-api.ts';
import { paymentException } from './exception.ts';
import { latePayments } from './exception-policy.ts';
import { payerMail } from './mail-api.ts';
import { refund } from './refund.ts';
import { route } from './route.ts';
import { idText, strictObject, successReply, timestampText } from './schema.ts';

const chainEvent = Type.Object({
  name: Type.String({ description: 'Of the contract’s event, such as `Paid`' }),
  chainId: Type.String(),
  txHash: Type.String(),
  blockNumber: Type.Integer(),
  at: timestampText,
  isFinal: Type.Boolean(),
});

const depositTransfer = Type.Object({
  tokenId: Type.String({ description: 'Token id: `<chain>::<token>`' }),
  amountInToken: Type.String({ description: 'In the smallest token unit' }),
  chainId: Type.String(),
  txHash: Type.String(),
  blockNumber: Type.Integer(),
  at: timestampText,
  isFinal: Type.Boolean(),
});
export type DepositTransfer = Static<typeof depositTransfer>;

const { txRequest: _txRequest, prerequisites: _prerequisites, ...refundColumns } = refund.properties;

/** Everything that happened to one session, for its page in the dashboard. */
export const sessionHistory = Type.Object({
  events: Type.Array(Type.Object({ eventId: Type.String(), type: Type.String(), at: timestampText })),
  chainEvents: Type.Array(chainEvent, { description: 'Of its orders, by time' }),
  droppedEvents: Type.Array(
    Type.Object({ ...Type.Omit(chainEvent, ['isFinal']).properties, droppedAt: timestampText }),
    { description: 'Final events of its orders that reorganisations below finality took back, by time' },
  ),
  isDeposit: Type.Boolean({
    description: 'Whether a deposit paid it: its payer is then the refund address',
  }),
  doubt: Type.Enum(['', 'lost', 'halted'], {
    description:
      '`lost`: a reorganisation below finality took the payment back, and it is not final again. `halted`: its chain is halted, ' +
      'so it is not known yet whether it still has the payment',
  }),
  settleBy: Type.String({
    description:
      'YYYY-MM-DD HH:MM:SS, UTC: a payment that is not settled by then goes back to its payer. Empty without a payment that waits in the gateway',
  }),
  transfers: Type.Array(depositTransfer, {
    description: 'To its deposit addresses, oldest first, at most 50',
  }),
  deliveries: Type.Array(
    Type.Object({
      deliveryId: Type.String(),
      webhookId: Type.String(),
      url: Type.String(),
      eventType: Type.String(),
      status: Type.Enum(deliveryStatuses),
      attempts: Type.Integer(),
      at: timestampText,
    }),
    { description: 'Of its events, newest first, at most 100' },
  ),
  refunds: Type.Array(Type.Object(refundColumns)),
  exceptions: Type.Array(paymentException),
  mails: Type.Array(payerMail, { description: 'To its payer, oldest first; those of the last 90 days' }),
});

const read = { method: 'GET', permissions: ['sessions:read'], effect: 'query' } as const;

/** What the dashboard reads about sessions and tokens beside the merchant API. */
export const sessionHistoryRoutes = {
  getSessionHistory: route({
    ...read,
    path: '/session/history/:sessionId',
    summary: 'Everything that happened to one session',
    description:
      'Its events, its transactions with their blocks, transfers to its addresses, its deliveries, refunds, exceptions and e-mails.',
    tag: 'Sessions',
    params: Type.Object({ sessionId: idText }),
    reply: sessionHistory,
    errors: ['session_not_found'],
  }),
  sendReceiptAgain: route({
    method: 'POST',
    path: '/session/receipt/send',
    summary: 'Send the receipt of a payment to its payer again',
    description:
      'To the address that the payer gave, at most three times a day. Refused (400101) where there is no payment, no address or no mail server.',
    tag: 'Sessions',
    body: strictObject({ sessionId: idText }),
    reply: successReply,
    permissions: ['checkout_sessions:write'],
    effect: 'update',
    errors: ['session_not_found', 'field_invalid'],
  }),
  listSettlementTokens: route({
    ...read,
    path: '/token/list',
    summary: 'The tokens of the installation, their networks, and its fees',
    tag: 'Tokens',
    reply: Type.Object({
      tokens: Type.Array(
        Type.Object({
          tokenId: Type.String(),
          symbol: Type.String(),
          decimals: Type.Integer(),
          address: Type.String(),
          chainId: Type.String(),
          network: Type.String({ description: 'The name that people know, such as `Base`' }),
          explorer: Type.String({ description: 'The network’s explorer; empty where there is none' }),
          closedReason: Type.Enum(['', 'token_stopped', 'token_paused'], {
            description:
              'Why no new orders are taken in it: stopped by the operator, or paused by its issuer',
          }),
        }),
      ),
      feeRates: Type.Object(
        { sameToken: Type.Integer(), sameChain: Type.Integer(), crossChain: Type.Integer() },
        { description: 'Millionths of the amount, by how far the token paid is from the token received' },
      ),
      depositPolicy: Type.Union(
        [
          Type.Object({
            latePayment: Type.Enum(latePayments),
            lateHours: Type.Integer(),
            underpaidPpm: Type.Integer(),
            underpaidAmount: Type.Optional(Type.Integer({ description: 'Micro-USD' })),
          }),
          Type.Null(),
        ],
        {
          description:
            'The operator’s setting for short and late transfers, which a link follows where it says nothing; null where none are taken',
        },
      ),
    }),
  }),
} as const;
