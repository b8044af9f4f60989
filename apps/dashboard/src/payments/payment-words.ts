import type { ExceptionKind } from '@florin/protocol/exception.ts';
import type { RefundStatus } from '@florin/protocol/refund.ts';
import type { PendingReason } from '@florin/protocol/session.ts';

const delays: Readonly<Record<PendingReason, string>> = {
  reorged: 'The chain replaced the block of the settlement.',
  reverted: 'The settlement’s transaction failed.',
  not_mined: 'The settlement’s transaction has waited too long.',
  vault_short: 'The vault of the target chain lacks money.',
  recipient_blocked: 'The token refuses transfers to your wallet.',
  token_paused: 'The issuer has paused the token.',
  attestation_pending: 'The token’s bridge has not confirmed the transfer yet.',
  outflow_cap: 'The operator’s limit of payouts is reached.',
};

/** Why a settlement is delayed, as a sentence; the API’s own word where it is a new one. */
export function delayReason(reason: string): string {
  return Object.hasOwn(delays, reason) ? delays[reason as PendingReason] : `Reason: ${reason}.`;
}

const exceptions: Readonly<Record<ExceptionKind, { readonly title: string; readonly what: string }>> = {
  duplicate: { title: 'Paid twice', what: 'A second payment came. It goes back to its payer.' },
  duplicate_settled: {
    title: 'Paid twice, and settled twice',
    what: 'A second payment was settled to you before it could go back. Return it to the payer.',
  },
  refunded: { title: 'The payment went back', what: 'The payer has the money back. It will not be settled.' },
  reclaimed: {
    title: 'The payer took the money back',
    what: 'The settlement took too long, and the payer reclaimed the payment. It will not be settled.',
  },
  underpaid: {
    title: 'Too little came',
    what: 'The deposit is smaller than the amount. It goes back to the payer unless you accept it.',
  },
  overpaid: { title: 'Too much came', what: 'What is over goes back to the payer.' },
  late: {
    title: 'The money came late',
    what: 'The deposit came after the order had expired. It goes back to the payer unless you accept it.',
  },
  wrong_token: { title: 'Another token came', what: 'It pays nothing, and goes back to the payer.' },
};

export function exceptionText(kind: ExceptionKind): { readonly title: string; readonly what: string } {
  return exceptions[kind];
}

const refunds: Readonly<Record<RefundStatus, string>> = {
  requires_signature: 'Waits for your signature',
  pending: 'On its way',
  completed: 'Refunded',
  failed: 'Failed',
};

export function refundStatusText(status: RefundStatus): string {
  return refunds[status];
}
