import type { CheckoutOption, CheckoutState, PreparedOrder } from '@florin/protocol/checkout-api.ts';
import { parseUsd } from '@florin/protocol/money.ts';
import type { CheckoutData } from './data.ts';
import type { Wallet } from './wallet.ts';

/** A one-use address for one amount of one token. */
export type DepositView = NonNullable<PreparedOrder['deposit']> & {
  readonly amountInToken: string;
  readonly option: CheckoutOption;
  /** The amount arrived so far. */
  readonly arrived: string;
};

/** The page's state. */
export interface Model {
  readonly data: CheckoutData;
  /** The session's secret from the fragment; empty on a link's page and after a hand-off. */
  readonly clientCode: string;
  readonly wallets: readonly Wallet[];
  readonly wallet?: Wallet | undefined;
  /** The wallet's address as the wallet spells it. */
  readonly payer: string;
  /** In smallest units by tokenId; absent while unknown. */
  readonly balances: Readonly<Record<string, string>>;
  /** The tokenId that the payer or the page chose. */
  readonly chosen: string;
  /** The current step for the payer, or the current wait; empty when idle. */
  readonly step: string;
  readonly problem: string;
  /** What the step waits for, if the payer can stop waiting; a wallet can be asked again. */
  readonly waitsFor: '' | 'wallet' | 'chain';
  /** The payer declined to sign: a transaction also pays. */
  readonly mayPayPlainly: boolean;
  /** The problem of the typed amount. */
  readonly amountProblem: string;
  /** The payment has left the wallet. */
  readonly isSent: boolean;
  /** The deposit address, once the payer asked for it. */
  readonly deposit?: DepositView | undefined;
  /** The text copied last; empty: none. */
  readonly copied: string;
  readonly isConnected: boolean;
}

/** Whether a block has a payment of the session, final or not. */
export function isMade({ status, initiateTx }: Pick<CheckoutState, 'status' | 'initiateTx'>): boolean {
  return initiateTx !== '' || !['initialized', 'expired', 'cancelled'].includes(status);
}

/** Whether no further payment is due: the session is paid or has ended. */
export function isOver(state: Pick<CheckoutState, 'status' | 'initiateTx'>): boolean {
  return isMade(state) || state.status !== 'initialized';
}

/** Whether a payment may begin on this page. */
export function mayPay({ data, isSent }: Pick<Model, 'data' | 'isSent'>, now: number): boolean {
  if (isSent) return false;
  const { state } = data;
  return data.link !== undefined || (state?.isPayable === true && state.expiresAt > now);
}

/**
 * The best option for a payer: affordable, fast and cheapest, in this order. Ties follow the server's order, which
 * starts with the settlement token.
 */
export function bestOption(
  options: readonly CheckoutOption[],
  balances: Readonly<Record<string, string>>,
): CheckoutOption | undefined {
  const rank = (option: CheckoutOption) => [
    option.status === 'unavailable' ? 1 : 0,
    // It does not accept the amount, or no amount is chosen, which is then true of all.
    option.total === '0' ? 1 : 0,
    holds(option, balances) ? 0 : 1,
    option.status === 'delayed' ? 1 : 0,
    Number(option.total),
  ];
  let best: CheckoutOption | undefined;
  for (const option of options) {
    if (best === undefined || isLess(rank(option), rank(best))) best = option;
  }
  return best;
}

function isLess(left: readonly number[], right: readonly number[]): boolean {
  for (const [index, value] of left.entries()) {
    const other = right[index] ?? 0;
    if (value !== other) return value < other;
  }
  return false;
}

/** The lowest and highest price that a token accepts, in Micro-USD; undefined where the payer cannot choose. */
export function boundsOf(option: CheckoutOption | undefined): { least: bigint; most: bigint } | undefined {
  const [least, most] = [parseUsd(option?.minAmountInUSD ?? ''), parseUsd(option?.maxAmountInUSD ?? '')];
  return least === undefined || most === undefined ? undefined : { least, most };
}

/** Whether the wallet is known to have enough of an option's token. */
export function holds(option: CheckoutOption, balances: Readonly<Record<string, string>>): boolean {
  const balance = balances[option.tokenId];
  return balance !== undefined && BigInt(balance) >= BigInt(option.amountInToken);
}
