import type { Move } from '@florin/protocol/machine.ts';

/** `sent`: the service has stored a transaction for the payer, whose outcome is not known yet. */
export const submissionStatuses = ['sent', 'succeeded', 'failed'] as const;
export type SubmissionStatus = (typeof submissionStatuses)[number];

export const submissionTriggers = [
  'transaction_succeeded',
  /** It was reverted, or another transaction of the wallet took its nonce. */
  'transaction_failed',
  /** The wallet that sent it is no longer configured, and its transaction has no outcome. */
  'wallet_dropped',
  /** The blocks with the outcome were reorged. */
  'outcome_taken_back',
  /** The payer asks again, and another transaction is stored. */
  'repeated',
] as const;
type SubmissionTrigger = (typeof submissionTriggers)[number];

/**
 * Every move of a submission. A pair of status and trigger that is absent is refused: the outcome of a failed one cannot be
 * taken back, because its payer may have submitted again.
 */
export const submissionMoves: readonly Move<SubmissionStatus, SubmissionTrigger>[] = [
  { from: 'sent', trigger: 'transaction_succeeded', to: 'succeeded' },
  { from: 'sent', trigger: 'transaction_failed', to: 'failed' },
  { from: 'sent', trigger: 'wallet_dropped', to: 'failed' },
  { from: 'succeeded', trigger: 'outcome_taken_back', to: 'sent' },
  { from: 'failed', trigger: 'repeated', to: 'sent' },
];
