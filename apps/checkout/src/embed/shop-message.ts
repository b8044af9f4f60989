import type { CheckoutState } from '@florin/protocol/checkout-state.ts';

/** What became of a payment, as a shop's page hears it. It proves nothing: the shop's server asks the service. */
export type ShopNews = 'detected' | 'paid' | 'expired';

/** What a page of a payment tells the shop's page that opened or frames it. It holds nothing of the payer. */
export type ShopMessage = { readonly florin: 1 } & (
  | { readonly type: 'ready' }
  | { readonly type: 'height'; readonly height: number }
  | { readonly type: ShopNews; readonly sessionId: string; readonly status: CheckoutState['status'] }
);

const paid: ReadonlySet<CheckoutState['status']> = new Set([
  'paid',
  'settling',
  'completed',
  'settlement_pending',
]);

/** The news of a state; undefined while a payment is only awaited. */
export function newsOf({ status, initiateTx }: Pick<CheckoutState, 'status' | 'initiateTx'>) {
  if (paid.has(status)) return 'paid';
  if (status !== 'initialized') return 'expired';
  return initiateTx === '' ? undefined : 'detected';
}
