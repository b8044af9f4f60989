import type { ReplyTo } from '../../api/call.ts';

export type ListedLeg = ReplyTo<'GET /staff/settlement/list/:page/:size'>['legs'][number];
export type ListedTransaction = ReplyTo<'GET /staff/transaction/list/:page/:size'>['transactions'][number];

export const pageSize = 50;
export const refreshMs = 10_000;

const purposes: Readonly<Record<string, string>> = {
  settle: 'Settlement',
  payout: 'Payout',
  mint: 'Mint',
  refund: 'Refund',
  relay: 'Payment of a payer',
  collect: 'Deposit collected',
  rescue: 'Deposit sent back',
  add: 'Deposit completed',
  fill: 'Empty, to use up a nonce',
};

/** What a leg or a transaction is for. */
export function purposeText(purpose: string): string {
  return purposes[purpose] ?? purpose;
}

const reasons: Readonly<Record<string, string>> = {
  not_mined: 'Its transaction gets into no block',
  reverted: 'It would revert',
  recipient_blocked: 'The token blocks the recipient',
  vault_short: 'The vault holds too little, or its caps are used up',
  token_paused: 'Its issuer has paused the token',
  token_not_served: 'The token or chain is not configured or allowed, or the vault cannot be read',
  attestation_pending: 'Circle has not attested the burn',
  outflow_cap: 'Over a cap of the configuration',
  order_in_doubt: 'The configuration does not name its contracts, or its terms were changed',
  reorged: 'Its block is gone; it waits to be mined again',
  settled: 'The order was settled before',
  refunded: 'The payment was given back',
  reclaimed: 'It went back to its payer, not settled in time',
  withdrawn: 'The payment was given back before its settlement',
};

/** Why a leg is delayed or held, or why it was closed without being sent. */
export function reasonText(reason: string): string {
  return reasons[reason] ?? reason;
}

/** A page of the chain's explorer; undefined where the chain has none. */
export function explorerLink(explorer: string, kind: 'tx' | 'address', value: string): string | undefined {
  return explorer === '' || value === '' ? undefined : `${explorer}/${kind}/${value}`;
}
