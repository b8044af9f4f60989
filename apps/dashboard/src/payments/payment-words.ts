import type { PendingReason, Session } from '@florin/protocol/session.ts';

const delays: Readonly<Record<PendingReason, string>> = {
  payment_reorged: 'The chain took the payment itself back: it is not paid now.',
  reorged: 'The chain replaced the block of the settlement.',
  reverted: 'The settlement’s transaction failed.',
  not_mined:
    'The settlement’s transaction gets into no block: the network’s fees are high, or it stands still.',
  vault_short: 'The vault of the target chain lacks money.',
  recipient_blocked:
    'The token’s issuer refuses transfers to your wallet, and waiting alone does not help: ask the issuer, and choose another wallet for new payments. ' +
    'Refund this payment if its payer should not wait.',
  token_paused:
    'The issuer has paused the token: no one can move it, and your wallet is not the cause. The settlement goes on once the issuer ends the pause.',
  token_not_served:
    'The operator’s configuration or vault does not serve the token or its chain at the moment: ask the operator.',
  attestation_pending: 'The token’s bridge has not confirmed the transfer yet.',
  outflow_cap: 'The operator’s limit of payouts is reached.',
  order_in_doubt: 'The operator checks this payment before the money moves.',
};

/** Why a settlement is delayed, as a sentence; the API’s own word where it is a new one. */
export function delayReason(reason: string): string {
  return Object.hasOwn(delays, reason) ? delays[reason as PendingReason] : `Reason: ${reason}.`;
}

/** Whether a payment went back whole before it was settled: no fee was taken, and nothing comes to the wallet. */
export function isReturnedUnsettled({
  completeTx,
  refundedAmount,
}: Pick<Session, 'completeTx' | 'refundedAmount'>): boolean {
  return completeTx === '' && refundedAmount > 0;
}

/**
 * How the money gets from the payer to the merchant, as a sentence; undefined for a way that this page does not know.
 * @param orderType Of the transaction (0 to 3).
 */
export function wayText(
  orderType: number,
  { paidOn, settledOn }: { readonly paidOn: string; readonly settledOn: string },
): string | undefined {
  const between = paidOn === settledOn ? ` on ${paidOn}` : ` from ${paidOn} to ${settledOn}`;
  return [
    'The payment contract keeps the money until the payment is final, and then passes it on to your wallet.',
    'The money went from the payer straight to your wallet, in one transaction.',
    `By the operator’s vault${between}: the money goes into the vault, and the vault pays your wallet.`,
    `By CCTP${between}: Circle burns the payer’s USDC and mints USDC to your wallet. The operator never holds it.`,
  ][orderType];
}
