import type { Move } from '@florin/protocol/machine.ts';

/** waiting: to be sent. sent: a stored transaction carries it. done: it happened on chain, or never can. */
export const legStatuses = ['waiting', 'sent', 'done'] as const;
export type LegStatus = (typeof legStatuses)[number];

/** What can happen to a settlement leg. */
export const legTriggers = [
  /** A signed transaction that carries the leg is stored. */
  'transaction_recorded',
  /** Its transaction failed or will never be mined, or none could be made: a later attempt follows. */
  'delayed',
  /** A final event shows that it happened, or that it never can. */
  'concluded',
  /** That event is gone, and no pending transaction carries the leg. */
  'event_lost',
  /** That event is gone, and the transaction that made it is pending again. */
  'event_lost_transaction_pending',
] as const;
export type LegTrigger = (typeof legTriggers)[number];

type LegMove = Move<LegStatus, LegTrigger>;

/** Every move of a settlement leg. An absent pair of status and trigger is refused. */
export const legMoves: readonly LegMove[] = [
  { from: 'waiting', trigger: 'transaction_recorded', to: 'sent' },
  { from: 'waiting', trigger: 'delayed', to: 'waiting' },
  { from: 'sent', trigger: 'delayed', to: 'waiting' },
  // The payer may have reclaimed the money, or settled the order in another transaction.
  { from: 'waiting', trigger: 'concluded', to: 'done' },
  { from: 'sent', trigger: 'concluded', to: 'done' },
  { from: 'done', trigger: 'event_lost', to: 'waiting' },
  { from: 'done', trigger: 'event_lost_transaction_pending', to: 'sent' },
];
