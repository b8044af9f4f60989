import Type, { type Static } from 'typebox';
import { idText, strictObject, timestampText } from './schema.ts';

/**
 * The exceptions of a payment. duplicate: a second payment, which goes back to its payer. duplicate_settled: it was
 * settled before it could go back, which resolves duplicate. refunded, reclaimed: the payer has the counted payment back, and it will never be
 * settled. unsettled: the counted payment still waits for its settlement, and goes back when its time is over. underpaid, late: money at a deposit address that does not pay by itself; it goes back to the payer unless it
 * is accepted. overpaid, wrong_token: money that pays nothing and goes back.
 */
export const exceptionKinds = [
  'duplicate',
  'duplicate_settled',
  'refunded',
  'reclaimed',
  'unsettled',
  'underpaid',
  'overpaid',
  'late',
  'wrong_token',
] as const;
export type ExceptionKind = (typeof exceptionKinds)[number];

/** The part in the event session.exception. */
export const raisedException = Type.Object({
  exceptionId: Type.String({ description: 'Prefix `exc_`' }),
  kind: Type.Enum(exceptionKinds),
  orderId: Type.String(),
  payer: Type.String(),
  tokenId: Type.String(),
  amountInToken: Type.String({
    description:
      'Smallest token unit. When more of the same kind comes before the money goes back, the amount grows and ' +
      'session.exception is sent again',
  }),
  txHash: Type.String({ description: 'Empty when no single transaction shows it' }),
  decision: Type.Enum(['', 'accept', 'refund'], {
    description: 'Your decision, or that of the link’s policy; empty while there is none',
  }),
  decideBy: Type.String({
    description: 'Until when POST /exception/accept is possible; empty when there is nothing to decide',
  }),
});

export const paymentException = Type.Object({
  ...raisedException.properties,
  sessionId: Type.String(),
  status: Type.Enum(['open', 'resolved'], {
    description:
      'resolved: the money is back with its payer, was settled or accepted as the payment, is gone, or you have marked the exception as resolved',
  }),
  resolvedTx: Type.String({
    description: 'The transaction that returned the money, settled it or made it the payment, else empty',
  }),
  isGone: Type.Boolean({
    description:
      'A reorg below finality took back the money, and no block has it. If it returns, the exception is open again and session.exception is sent once more',
  }),
  createAt: timestampText,
  updateAt: timestampText,
});
export type PaymentException = Static<typeof paymentException>;

export const exceptionResolveBody = strictObject({ exceptionId: idText });
