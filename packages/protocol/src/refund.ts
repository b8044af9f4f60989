import Type, { type Static } from 'typebox';
import { prerequisite, txRequest } from './agent-view.ts';
import { idText, text, timestampText } from './schema.ts';

/**
 * requires_signature: the payment is settled, so the merchant's wallet must send it back. pending: the platform sends
 * it back, not final on chain yet. completed: the payer has the money back. failed: the money is elsewhere: with the
 * merchant, because a third party settled the order first, or already with the payer.
 */
export const refundStatuses = ['requires_signature', 'pending', 'completed', 'failed'] as const;
export type RefundStatus = (typeof refundStatuses)[number];

export const refund = Type.Object({
  refundId: Type.String({ description: 'Prefix `rfd_`' }),
  sessionId: Type.String({ description: 'The paid session' }),
  amount: Type.Integer({ description: 'Micro-USD' }),
  status: Type.Enum(refundStatuses),
  reason: Type.String({ description: "The merchant's own words, else empty" }),
  txHash: Type.String({ description: 'The transaction that returned the money; empty until completed' }),
  createAt: timestampText,
  updateAt: timestampText,
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
          'with less, txRequest reverts with TransferFailed (0x39f1c8d9). Only while the status is requires_signature',
      },
    ),
  ),
  txRequest: Type.Optional(txRequest),
  prerequisites: Type.Optional(
    Type.Array(prerequisite, {
      description:
        'Transactions to send before txRequest, in order: they let the gateway take exactly the amount. Both are there ' +
        'while the status is requires_signature',
    }),
  ),
});
export type Refund = Static<typeof refund>;

export const refundCreateBody = Type.Object(
  {
    sessionId: idText,
    amount: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: Number.MAX_SAFE_INTEGER,
        description:
          'Micro-USD; by default the rest of the payment. Before the settlement only the whole payment can go back',
      }),
    ),
    reason: Type.Optional(text({ max: 500 })),
  },
  { additionalProperties: false },
);
export type RefundCreateBody = Static<typeof refundCreateBody>;
