import type { Move } from '@florin/protocol/machine.ts';

export const accountChangeStatuses = ['waiting', 'done', 'cancelled', 'refused'] as const;
export type AccountChangeStatus = (typeof accountChangeStatuses)[number];

export const accountChangeTriggers = [
  /** Its time has come. */
  'take_effect',
  'cancel',
  /** Its time has come, and the account cannot be created any more. */
  'refuse',
] as const;
export type AccountChangeTrigger = (typeof accountChangeTriggers)[number];

/** Every move of a wallet that is added. A pair of status and trigger that is absent is refused. */
export const accountChangeMoves: readonly Move<AccountChangeStatus, AccountChangeTrigger>[] = [
  { from: 'waiting', trigger: 'take_effect', to: 'done' },
  { from: 'waiting', trigger: 'cancel', to: 'cancelled' },
  { from: 'waiting', trigger: 'refuse', to: 'refused' },
];
