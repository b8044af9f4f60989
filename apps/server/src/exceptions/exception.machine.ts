import type { Move } from '@florin/protocol/machine.ts';

export const exceptionStatuses = ['open', 'resolved'] as const;
export type ExceptionStatus = (typeof exceptionStatuses)[number];

/** What can end an exception. */
export const exceptionTriggers = [
  /** The merchant or the operator has handled it. */
  'marked_resolved',
  /** A final event shows that the payer has the money back, or that it is the payment. */
  'money_placed',
] as const;
export type ExceptionTrigger = (typeof exceptionTriggers)[number];

type ExceptionMove = Move<ExceptionStatus, ExceptionTrigger>;

/** Every move of an exception. An absent pair of status and trigger is refused. */
export const exceptionMoves: readonly ExceptionMove[] = [
  { from: 'open', trigger: 'marked_resolved', to: 'resolved' },
  { from: 'open', trigger: 'money_placed', to: 'resolved' },
  // The merchant had marked it before: the row only gets the transaction.
  { from: 'resolved', trigger: 'money_placed', to: 'resolved' },
];
