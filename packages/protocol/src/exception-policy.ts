import Type, { type Static } from 'typebox';
import { strictObject } from './schema.ts';

/**
 * The treatment of a deposit after the session's end. return: it goes back. ask: the merchant decides. accept: it pays.
 */
export const latePayments = ['return', 'ask', 'accept'] as const;
export type LatePayment = (typeof latePayments)[number];

/** A merchant who would forgo more than a tenth should lower the price instead. */
export const maxUnderpaidPpm = 100_000;
/** The longest time, in hours, in which a late deposit may be accepted. It cannot go back during that time. */
export const maxLateHours = 168;

/** A link's policy for short or late deposits; omitted members are the installation's. */
export const exceptionPolicy = strictObject({
  underpaidPpm: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: maxUnderpaidPpm,
      description: 'A deposit that lacks at most this share of the total counts as paid; parts per million',
    }),
  ),
  underpaidAmount: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 10_000_000_000_000,
      description:
        'The same in Micro-USD; the smaller of both counts, and never more than the operator allows',
    }),
  ),
  latePayment: Type.Optional(
    Type.Enum(latePayments, {
      description:
        'A deposit after the session has expired: `return` sends it back, `accept` makes it the payment, `ask` ' +
        'waits for POST /exception/accept or /exception/refund',
    }),
  ),
  lateHours: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: maxLateHours,
      description:
        'Hours after the session’s end in which a deposit may still be accepted; a deposit that is not accepted goes back after them',
    }),
  ),
});
export type ExceptionPolicy = Static<typeof exceptionPolicy>;
