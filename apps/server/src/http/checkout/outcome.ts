import type { CheckoutState } from '@florin/protocol/checkout-api.ts';
import type { PaymentException } from '@florin/protocol/exception.ts';
import type { Token } from '@florin/protocol/token.ts';

/** What becomes of money that came and paid nothing. */
export type Outcome = CheckoutState['exceptions'][number]['outcome'];

/** The kinds that payers are told of, as they are called there. */
const shown: Partial<Record<PaymentException['kind'], CheckoutState['exceptions'][number]['kind']>> = {
  underpaid: 'underpaid',
  overpaid: 'overpaid',
  late: 'late',
  wrong_token: 'wrong_token',
  duplicate: 'duplicate',
  duplicate_settled: 'duplicate',
};

/** What a payer is told an exception is; undefined: nothing. */
export function shownKindOf({ kind }: Pick<PaymentException, 'kind'>) {
  return shown[kind];
}

/**
 * A session's exceptions as a payer is told of them: a second payment that went to the merchant before it could go back is
 * told once.
 */
export function toldExceptions(exceptions: readonly PaymentException[]): PaymentException[] {
  const taken = new Set(
    exceptions.flatMap(({ kind, orderId }) => (kind === 'duplicate_settled' ? [orderId] : [])),
  );
  return exceptions.filter(({ kind, orderId }) => kind !== 'duplicate' || !taken.has(orderId));
}

/**
 * What becomes of an exception's money by itself, as far as that holds. `least` is what the service sends back at all, in
 * Micro-USD; absent where it sends nothing. What lies in the gateway, a second payment, is sent back whatever it is worth.
 */
export function outcomeOf(
  exception: Pick<
    PaymentException,
    'kind' | 'status' | 'resolvedTx' | 'decision' | 'decideBy' | 'txHash' | 'amountInToken'
  >,
  { token, least }: { readonly token: Pick<Token, 'decimals'>; readonly least: bigint | undefined },
): Outcome {
  const { kind, status, resolvedTx, decision, decideBy, txHash } = exception;
  if (kind === 'duplicate_settled') return 'taken';
  // A merchant can close an exception by hand: then no transaction says that anything went back.
  if (status === 'resolved') return resolvedTx === '' ? 'closed' : 'back';
  if (kind === 'duplicate' && txHash !== '') return 'second';
  const value = BigInt(exception.amountInToken) / 10n ** BigInt(token.decimals - 6);
  const isSent = least !== undefined && value >= least;
  if (decideBy === '') return isSent ? 'goes' : 'by_hand';
  if (decision === 'refund') return isSent ? 'goes_later' : 'by_hand';
  return isSent ? 'waits' : 'waits_by_hand';
}
