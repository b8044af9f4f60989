import { type Move, moveIn } from '@florin/protocol/machine.ts';

/** waiting: to be sent. sent: a stored transaction carries it. done: the chain shows that it happened, or never can. */
export const legStatuses = ['waiting', 'sent', 'done'] as const;
export type LegStatus = (typeof legStatuses)[number];

/** What can happen to a settlement leg. */
export const legTriggers = [
  /** A signed transaction that carries the leg is stored. */
  'transaction_recorded',
  /** Its transaction failed or will never be mined, or none could be made: it is tried again later. */
  'delayed',
  /** A final event shows that the leg happened, or that it never can. */
  'concluded',
  /** The final event that showed it is gone, and no transaction carries the leg. */
  'event_lost',
  /** The final event that showed it is gone, and the transaction that made it is followed again. */
  'event_lost_transaction_pending',
] as const;
export type LegTrigger = (typeof legTriggers)[number];

type LegMove = Move<LegStatus, LegTrigger>;

/** Every move that a settlement leg can make. A pair of status and trigger that is absent is refused. */
export const legMoves: readonly LegMove[] = [
  { from: 'waiting', trigger: 'transaction_recorded', to: 'sent' },
  { from: 'waiting', trigger: 'delayed', to: 'waiting' },
  { from: 'sent', trigger: 'delayed', to: 'waiting' },
  // The payer may have taken the money back, or settled the order in a transaction of their own.
  { from: 'waiting', trigger: 'concluded', to: 'done' },
  { from: 'sent', trigger: 'concluded', to: 'done' },
  { from: 'done', trigger: 'event_lost', to: 'waiting' },
  { from: 'done', trigger: 'event_lost_transaction_pending', to: 'sent' },
];

/** The move for a status and a trigger; undefined when there is none. */
export function legMove(status: LegStatus, trigger: LegTrigger): LegMove | undefined {
  return moveIn(legMoves, status, trigger);
}
