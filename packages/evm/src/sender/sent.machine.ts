/**
 * pending: repeated until it has an outcome. succeeded and failed (reverted): final by the chain's policy.
 * superseded: another transaction of the wallet took the nonce, so none of ours can be mined.
 */
export const sentStatuses = ['pending', 'succeeded', 'failed', 'superseded'] as const;
export type SentStatus = (typeof sentStatuses)[number];

/** Triggers for a transaction that a wallet of ours has signed. */
export const sentTriggers = [
  /** A final block contains it, and its execution succeeded. */
  'execution_succeeded',
  /** A final block contains it, and its execution reverted. */
  'execution_reverted',
  /** A final block contains another transaction of the wallet with its nonce. */
  'nonce_taken',
  /** The final block that contained it was reverted. */
  'block_taken_back',
] as const;
export type SentTrigger = (typeof sentTriggers)[number];

interface SentMove {
  readonly from: SentStatus;
  readonly trigger: SentTrigger;
  readonly to: SentStatus;
}

/** Every move of a sent transaction. A pair of status and trigger that is absent is refused. */
export const sentMoves: readonly SentMove[] = [
  { from: 'pending', trigger: 'execution_succeeded', to: 'succeeded' },
  { from: 'pending', trigger: 'execution_reverted', to: 'failed' },
  { from: 'pending', trigger: 'nonce_taken', to: 'superseded' },
  { from: 'succeeded', trigger: 'block_taken_back', to: 'pending' },
  { from: 'failed', trigger: 'block_taken_back', to: 'pending' },
];

/** The move for a status and a trigger; undefined when there is none. */
export function sentMove(status: SentStatus, trigger: SentTrigger): SentMove | undefined {
  return sentMoves.find((move) => move.from === status && move.trigger === trigger);
}

/** The final status that a trigger gives to a pending transaction. Throws RangeError for a trigger that ends nothing. */
export function outcomeOf(trigger: SentTrigger): Exclude<SentStatus, 'pending'> {
  const to = sentMove('pending', trigger)?.to;
  if (to === undefined || to === 'pending') throw new RangeError(`a pending transaction refuses ${trigger}`);
  return to;
}

/** The statuses before a trigger, as SQL: `'succeeded', 'failed'`. */
export function sqlStatusesBefore(trigger: SentTrigger): string {
  return sentMoves.flatMap((move) => (move.trigger === trigger ? [`'${move.from}'`] : [])).join(', ');
}
