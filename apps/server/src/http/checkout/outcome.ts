import type { CheckoutState } from '@florin/protocol/checkout-state.ts';
import type { PaymentException } from '@florin/protocol/exception.ts';
import type { Token } from '@florin/protocol/token.ts';
import { microUsdOf } from '#exceptions/deposit-exception.ts';

/** The outcome of money that arrived and paid nothing. */
export type UnappliedOutcome = CheckoutState['exceptions'][number]['outcome'];

/** The kinds of exception that payers see, by their public names. */
const shown: Partial<Record<PaymentException['kind'], CheckoutState['exceptions'][number]['kind']>> = {
  underpaid: 'underpaid',
  overpaid: 'overpaid',
  late: 'late',
  wrong_token: 'wrong_token',
  duplicate: 'duplicate',
  duplicate_settled: 'duplicate',
};

/** The public name of an exception's kind; undefined for kinds that payers do not see. */
export function shownKindOf({ kind }: Pick<PaymentException, 'kind'>) {
  return shown[kind];
}

/**
 * A session's exceptions as its payer sees them. A second payment that was settled before it could go back appears
 * once.
 */
export function shownExceptions(exceptions: readonly PaymentException[]): PaymentException[] {
  const taken = new Set(
    exceptions.flatMap(({ kind, orderId }) => (kind === 'duplicate_settled' ? [orderId] : [])),
  );
  return exceptions.filter(({ kind, orderId }) => kind !== 'duplicate' || !taken.has(orderId));
}

/**
 * What happens to an exception's money by itself, as far as it is known. `least` is the smallest amount that the
 * service sends back, in Micro-USD; absent where it sends nothing. A second payment in the gateway is sent back at any
 * amount. A merchant's mark moves no money: what is at a deposit address goes back all the same.
 */
export function unappliedOutcomeOf(
  exception: Pick<
    PaymentException,
    'kind' | 'status' | 'resolvedTx' | 'decision' | 'decideBy' | 'txHash' | 'amountInToken'
  >,
  { token, least }: { readonly token: Pick<Token, 'decimals'>; readonly least: bigint | undefined },
): UnappliedOutcome {
  const { kind, status, resolvedTx, decision, decideBy, txHash } = exception;
  if (kind === 'duplicate_settled' && resolvedTx === '') return 'taken';
  if (status === 'resolved' && resolvedTx !== '') return 'back';
  const isMarked = status === 'resolved';
  if (isMarked && txHash !== '') return 'closed';
  if (decision === 'accept') return 'accepted';
  if (kind === 'duplicate' && txHash !== '') return 'second';
  const isSent = least !== undefined && microUsdOf(token, BigInt(exception.amountInToken)) >= least;
  if (decideBy === '') return isSent ? 'goes' : 'by_hand';
  if (decision === 'refund' || isMarked) return isSent ? 'goes_later' : 'by_hand';
  return isSent ? 'waits' : 'waits_by_hand';
}
