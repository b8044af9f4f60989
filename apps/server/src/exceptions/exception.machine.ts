import type { Move } from '@florin/protocol/machine.ts';

export const exceptionStatuses = ['open', 'resolved'] as const;
export type ExceptionStatus = (typeof exceptionStatuses)[number];

/** What can end an exception, or open it again. */
export const exceptionTriggers = [
  /** The merchant or the operator has handled it. */
  'marked_resolved',
  /** A final event shows that the payer has the money back, or that it is the payment. */
  'money_placed',
  /** A reorg below finality took back the event that showed the payer's money as returned. */
  'return_lost',
  /** A reorg below finality took back the money that it is about, and no block has it. */
  'money_lost',
  /** A final block has that money again. */
  'money_back',
] as const;
export type ExceptionTrigger = (typeof exceptionTriggers)[number];

type ExceptionMove = Move<ExceptionStatus, ExceptionTrigger>;

/** Every move of an exception. An absent pair of status and trigger is refused. */
export const exceptionMoves: readonly ExceptionMove[] = [
  { from: 'open', trigger: 'marked_resolved', to: 'resolved' },
  { from: 'open', trigger: 'money_placed', to: 'resolved' },
  // The merchant had marked it before: the row only gets the transaction.
  { from: 'resolved', trigger: 'money_placed', to: 'resolved' },
  // Also where the merchant had marked it: the money is not with the payer.
  { from: 'resolved', trigger: 'return_lost', to: 'open' },
  { from: 'open', trigger: 'money_lost', to: 'resolved' },
  // The merchant had marked it before: the row only notes that nothing is left to go back.
  { from: 'resolved', trigger: 'money_lost', to: 'resolved' },
  { from: 'resolved', trigger: 'money_back', to: 'open' },
];
