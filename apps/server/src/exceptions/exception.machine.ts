import { type Move, moveIn } from '@florin/protocol/machine.ts';

export const exceptionStatuses = ['open', 'resolved'] as const;
export type ExceptionStatus = (typeof exceptionStatuses)[number];

/** What can end an exception. */
export const exceptionTriggers = [
  /** The merchant or the operator has dealt with it. */
  'marked_resolved',
  /** A final event shows the money back with its payer, or as the payment. */
  'money_placed',
] as const;
export type ExceptionTrigger = (typeof exceptionTriggers)[number];

type ExceptionMove = Move<ExceptionStatus, ExceptionTrigger>;

/** Every move that an exception can make. A pair of status and trigger that is absent is refused. */
export const exceptionMoves: readonly ExceptionMove[] = [
  { from: 'open', trigger: 'marked_resolved', to: 'resolved' },
  // The same twice succeeds, so that a lost answer can be asked for again.
  { from: 'resolved', trigger: 'marked_resolved', to: 'resolved' },
  { from: 'open', trigger: 'money_placed', to: 'resolved' },
];

/** The move for a status and a trigger; undefined when there is none. */
export function exceptionMove(status: ExceptionStatus, trigger: ExceptionTrigger): ExceptionMove | undefined {
  return moveIn(exceptionMoves, status, trigger);
}
