import type { Move } from '@florin/protocol/machine.ts';

/**
 * A move of a deposit collects it, adds what it lacks, or sends it back. sent: its transaction is on its way. unfollowed: an
 * addition whose wallet is followed no more, so that nothing tells what became of it.
 */
export const depositMoveStatuses = ['sent', 'succeeded', 'failed', 'unfollowed'] as const;
export type DepositMoveStatus = (typeof depositMoveStatuses)[number];

/** What can happen to a move of a deposit. */
export const depositMoveTriggers = [
  /** The move is due once more: a further transaction that makes it is stored. */
  'repeated',
  'transaction_succeeded',
  /** It was reverted, or another transaction of the wallet took its nonce. */
  'transaction_failed',
  /** The wallet that sent it is configured no more, and its transaction has no outcome. */
  'wallet_dropped',
  /** The final block that had its transaction was taken back. */
  'outcome_taken_back',
] as const;
export type DepositMoveTrigger = (typeof depositMoveTriggers)[number];

interface DepositMoveTransition extends Move<DepositMoveStatus, DepositMoveTrigger> {
  /** Undefined: holds for every move. Money of the operator is added at most once; other moves can be repeated safely. */
  readonly isAddition?: boolean;
}

/** Every transition of a deposit's move. What is absent is refused. */
export const depositMoveTransitions: readonly DepositMoveTransition[] = [
  { from: 'sent', trigger: 'transaction_succeeded', to: 'succeeded' },
  { from: 'sent', trigger: 'transaction_failed', to: 'failed' },
  { from: 'failed', trigger: 'repeated', to: 'sent' },
  // More may have come to an address that was collected or emptied already.
  { from: 'succeeded', trigger: 'repeated', isAddition: false, to: 'sent' },
  { from: 'sent', trigger: 'wallet_dropped', isAddition: false, to: 'failed' },
  { from: 'sent', trigger: 'wallet_dropped', isAddition: true, to: 'unfollowed' },
  // The wallet is configured again.
  { from: 'unfollowed', trigger: 'transaction_succeeded', isAddition: true, to: 'succeeded' },
  { from: 'unfollowed', trigger: 'transaction_failed', isAddition: true, to: 'failed' },
  // An addition is booked by then, and booked once.
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
