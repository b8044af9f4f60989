/**
 * pending: to be repeated until it has an outcome. succeeded and failed (reverted): final by the chain's policy.
 * superseded: another transaction of the wallet took the nonce, so none of ours can be mined.
 */
export const sentStatuses = ['pending', 'succeeded', 'failed', 'superseded'] as const;
export type SentStatus = (typeof sentStatuses)[number];

/** What can happen to a transaction that a wallet of ours has signed. */
export const sentTriggers = [
  /** A final block has it, and it was executed. */
  'execution_succeeded',
  /** A final block has it, and it was reverted. */
  'execution_reverted',
  /** A final block has another transaction of the wallet with its nonce. */
  'nonce_taken',
  /** The final block that had it was taken back. */
  'block_taken_back',
] as const;
export type SentTrigger = (typeof sentTriggers)[number];

interface SentMove {
  readonly from: SentStatus;
  readonly trigger: SentTrigger;
  readonly to: SentStatus;
}

/** Every move that a sent transaction can make. A pair of status and trigger that is absent is refused. */
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

/** What a trigger makes of a pending transaction, for good. Throws RangeError for a trigger that is none of its ends. */
export function outcomeOf(trigger: SentTrigger): Exclude<SentStatus, 'pending'> {
  const to = sentMove('pending', trigger)?.to;
  if (to === undefined || to === 'pending') throw new RangeError(`a pending transaction refuses ${trigger}`);
  return to;
}

/** The statuses that a trigger leaves, as SQL: `'succeeded', 'failed'`. */
export function sqlStatusesBefore(trigger: SentTrigger): string {
  return sentMoves.flatMap((move) => (move.trigger === trigger ? [`'${move.from}'`] : [])).join(', ');
}
