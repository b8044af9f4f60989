import type { Move } from '@florin/protocol/machine.ts';

/** A removed account keeps its row for its sessions. */
export const accountStatuses = ['normal', 'removed'] as const;
export type AccountStatus = (typeof accountStatuses)[number];

/** What members do with an account, and what a planned change of its wallet does once its time has come. */
export const accountTriggers = [
  /** Its name, tokens or settlement mode. */
  'update',
  /** It gets another address, and so a new version. */
  'change_address',
  'remove',
] as const;
export type AccountTrigger = (typeof accountTriggers)[number];

/** Every move that an account can make. A pair of status and trigger that is absent is refused. */
export const accountMoves: readonly Move<AccountStatus, AccountTrigger>[] = [
  { from: 'normal', trigger: 'update', to: 'normal' },
  { from: 'normal', trigger: 'change_address', to: 'normal' },
  { from: 'normal', trigger: 'remove', to: 'removed' },
];
