import type { Move } from '@florin/protocol/machine.ts';

/**
 * A move of a deposit collects it, adds what it lacks, or sends it back. sent: its transaction is on its way. unfollowed:
 * an addition whose wallet is no longer followed, so that its outcome stays unknown.
 */
export const depositMoveStatuses = ['sent', 'succeeded', 'failed', 'unfollowed'] as const;
export type DepositMoveStatus = (typeof depositMoveStatuses)[number];

/** What can happen to a move of a deposit. */
export const depositMoveTriggers = [
  /** The move is due again, and another transaction for it is stored. */
  'repeated',
  'transaction_succeeded',
  /** It was reverted, or another transaction of the wallet took its nonce. */
  'transaction_failed',
  /** The wallet that sent it is no longer configured, and its transaction has no outcome. */
  'wallet_dropped',
  /** The final block with its transaction was reverted. */
  'outcome_taken_back',
] as const;
export type DepositMoveTrigger = (typeof depositMoveTriggers)[number];

interface DepositMoveTransition extends Move<DepositMoveStatus, DepositMoveTrigger> {
  /** Undefined: for every move. The operator's money is added at most once; other moves can be repeated safely. */
  readonly isAddition?: boolean;
}

/** Every transition of a deposit's move. An absent one is refused. */
export const depositMoveTransitions: readonly DepositMoveTransition[] = [
  { from: 'sent', trigger: 'transaction_succeeded', to: 'succeeded' },
  { from: 'sent', trigger: 'transaction_failed', to: 'failed' },
  { from: 'failed', trigger: 'repeated', to: 'sent' },
  // More money may arrive at an address that was collected or emptied.
  { from: 'succeeded', trigger: 'repeated', isAddition: false, to: 'sent' },
  { from: 'sent', trigger: 'wallet_dropped', isAddition: false, to: 'failed' },
  { from: 'sent', trigger: 'wallet_dropped', isAddition: true, to: 'unfollowed' },
  // The wallet is configured again.
  { from: 'unfollowed', trigger: 'transaction_succeeded', isAddition: true, to: 'succeeded' },
  { from: 'unfollowed', trigger: 'transaction_failed', isAddition: true, to: 'failed' },
  // Not additions: they are booked by then, and booked once.
  { from: 'succeeded', trigger: 'outcome_taken_back', isAddition: false, to: 'sent' },
];

/** The transition for a status and a trigger; undefined when there is none. */
export function depositMoveTransition(
  state: { readonly status: DepositMoveStatus; readonly isAddition: boolean },
  trigger: DepositMoveTrigger,
): DepositMoveTransition | undefined {
  return depositMoveTransitions.find(
    (row) =>
      row.from === state.status &&
      row.trigger === trigger &&
      (row.isAddition === undefined || row.isAddition === state.isAddition),
  );
}
