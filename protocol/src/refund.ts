import Type, { type Static } from 'typebox';
import { idText, text, timestampText } from './schema.ts';

/**
 * pending: asked for, not final on chain. completed: the payer has the money back. failed: it went to the merchant
 * instead, because somebody settled the order first.
 */
export const refundStatuses = ['pending', 'completed', 'failed'] as const;
export type RefundStatus = (typeof refundStatuses)[number];

export const refund = Type.Object({
  refundId: Type.String({ description: 'Prefix `rfd_`' }),
  sessionId: Type.String({ description: 'Session that was paid' }),
  amount: Type.Integer({ description: 'Micro-USD' }),
  status: Type.Enum(refundStatuses),
  reason: Type.String({ description: "The merchant's own words, else empty" }),
  txHash: Type.String({ description: 'The transaction that gave the money back; empty until completed' }),
  createAt: timestampText,
  updateAt: timestampText,
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
          'Micro-USD; all that was paid when left out. Before the settlement only all of it can go back',
      }),
    ),
    reason: Type.Optional(text({ max: 500 })),
  },
  { additionalProperties: false },
);
export type RefundCreateBody = Static<typeof refundCreateBody>;
