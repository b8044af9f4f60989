import Type, { type Static } from 'typebox';
import { prerequisite, txRequest } from './agent-view.ts';
import { idText, strictObject, text, timestampText } from './schema.ts';

/**
 * requires_signature: the payment is settled, so the merchant's wallet must send it back. pending: the platform sends
 * it back, not final on chain yet. completed: the payer has the money back. failed: the money is elsewhere: with the
 * merchant, because a third party settled the order first, or already with the payer. cancelled: the merchant cancelled it
 * before a wallet was asked for it.
 */
export const refundStatuses = ['requires_signature', 'pending', 'completed', 'failed', 'cancelled'] as const;
export type RefundStatus = (typeof refundStatuses)[number];

export const refund = Type.Object({
  refundId: Type.String({ description: 'Prefix `rfd_`' }),
  sessionId: Type.String({ description: 'The paid session' }),
  orderId: Type.String({
    description: 'The payment that goes back: the one that paid the session, or a second one',
  }),
  exceptionId: Type.String({
    description:
      'The exception `duplicate_settled` of a second payment; empty for the payment that paid the session',
  }),
  amount: Type.Integer({ description: 'Micro-USD' }),
  status: Type.Enum(refundStatuses),
  reason: Type.String({
    description:
      "The merchant's own words, else empty. Empty also for a refund that began completed: a wallet returned the money through " +
      'the gateway although no refund waited for it',
  }),
  txHash: Type.String({
    description:
      'The transaction that returned the money; empty until completed. After `refund.reopened` the lost one, which may still return it',
  }),
  cancelledAt: Type.String({
    description:
      'YYYY-MM-DD HH:MM:SS, UTC: when you cancelled it, else empty. Beside `completed`: a transaction that was signed before paid it',
  }),
  createAt: timestampText,
  updateAt: timestampText,
  refundedAmount: Type.Optional(
    Type.Integer({
      description:
        'Micro-USD of the payment that went back so far, final on chain. Sign only while `refundedOf(orderId)` of the gateway ' +
        'says the same. Only with txRequest',
    }),
  ),
  requiredBalance: Type.Optional(
    Type.Object(
      {
        tokenId: Type.String({ description: 'Token id: `<chain>::<token>`' }),
        chainId: Type.String(),
        tokenAddress: Type.String(),
        amountInToken: Type.String({ description: 'In the smallest token unit' }),
      },
      {
        description:
          'What the wallet that sends txRequest must hold: the token that the payer paid, on the chain of the payment. It ' +
          'may differ from the token and chain of your settlement. Check the balance before you send the prerequisites: ' +
          'with less, txRequest reverts with TransferFailed (0x39f1c8d9). Only with txRequest',
      },
    ),
  ),
  txRequest: Type.Optional(txRequest),
  prerequisites: Type.Optional(
    Type.Array(prerequisite, {
      description:
        'Transactions to send before txRequest, in order: they let the gateway take exactly the amount. txRequest and what is ' +
        'there only with it are there while the status is requires_signature, unless the service cannot vouch for the payment: ' +
        'then tell the operator',
    }),
  ),
});
export type Refund = Static<typeof refund>;

export const refundCreateBody = strictObject({
  sessionId: idText,
  exceptionId: Type.Optional({
    ...idText,
    description:
      'An open exception `duplicate_settled` of the session: returns that second payment instead of the one that paid it',
  }),
  amount: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description:
        'Micro-USD; by default the rest of the payment, without the refunds that wait for a signature. Before the settlement ' +
        'only the whole payment can go back',
    }),
  ),
  reason: Type.Optional(text({ max: 500 })),
});
export type RefundCreateBody = Static<typeof refundCreateBody>;

export const refundCancelBody = strictObject({ refundId: idText });
