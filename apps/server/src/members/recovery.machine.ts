import type { Move } from '@florin/protocol/machine.ts';

/** `asked`: a second owner must agree, who begins another one in its place. `waiting`: its link works from a moment on. */
export const recoveryStatuses = ['asked', 'waiting', 'used', 'cancelled'] as const;
export type RecoveryStatus = (typeof recoveryStatuses)[number];

export const recoveryTriggers = [
  /** The person has used the link. */
  'complete',
  /** The person, an owner or the operator ends it, or another one replaces it. */
  'cancel',
] as const;
type RecoveryTrigger = (typeof recoveryTriggers)[number];

/** Every move of a recovery. A pair of status and trigger that is absent is refused. */
export const recoveryMoves: readonly Move<RecoveryStatus, RecoveryTrigger>[] = [
  { from: 'waiting', trigger: 'complete', to: 'used' },
  { from: 'asked', trigger: 'cancel', to: 'cancelled' },
  { from: 'waiting', trigger: 'cancel', to: 'cancelled' },
];
