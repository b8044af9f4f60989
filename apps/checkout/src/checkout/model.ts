import type { CheckoutOption, CheckoutState, PreparedOrder } from '@florin/protocol/checkout-api.ts';
import { parseUsd } from '@florin/protocol/money.ts';
import type { CheckoutData } from './data.ts';
import type { Wallet } from './wallet.ts';

/** A one-use address that waits for one amount of one token. */
export type Deposit = NonNullable<PreparedOrder['deposit']> & {
  readonly amountInToken: string;
  readonly option: CheckoutOption;
  /** What has arrived so far. */
  readonly arrived: string;
};

/** What the page knows at one moment. */
export interface Model {
  readonly data: CheckoutData;
  /** The session's secret, out of the fragment; empty on a link's page and after a hand-off. */
  readonly clientCode: string;
  readonly wallets: readonly Wallet[];
  readonly wallet?: Wallet | undefined;
  /** The wallet's address, as it gave it. */
  readonly payer: string;
  /** In smallest units by tokenId; absent while not known. */
  readonly balances: Readonly<Record<string, string>>;
  /** The tokenId that the payer has chosen, or that was chosen for them. */
  readonly chosen: string;
  /** What the payer has to do, or to wait for, right now; empty: nothing goes on. */
  readonly step: string;
  readonly problem: string;
  /** Whom the step waits for where the payer can stop that; a wallet can be asked again. */
  readonly waitsFor: '' | 'wallet' | 'chain';
  /** The payer has declined to sign: a transaction pays, too. */
  readonly mayPayPlainly: boolean;
  /** What is wrong with the amount that the payer has typed. */
  readonly amountProblem: string;
  /** The payment has left the wallet. */
  readonly isSent: boolean;
  /** Where to send from elsewhere, once the payer has asked for it. */
  readonly deposit?: Deposit | undefined;
  /** What was copied last; empty: nothing. */
  readonly copied: string;
  readonly isConnected: boolean;
}

/** Whether a payment of the session is in a block, final or not. */
export function isMade({ status, initiateTx }: Pick<CheckoutState, 'status' | 'initiateTx'>): boolean {
  return initiateTx !== '' || !['initialized', 'expired', 'cancelled'].includes(status);
}

/** Whether nothing more is to be paid, because it is, or because the session has ended. */
export function isOver(state: Pick<CheckoutState, 'status' | 'initiateTx'>): boolean {
  return isMade(state) || state.status !== 'initialized';
}

/** Whether a payment may be begun from here. */
export function mayPay({ data, isSent }: Pick<Model, 'data' | 'isSent'>, now: number): boolean {
  if (isSent) return false;
  const { state } = data;
  return data.link !== undefined || (state?.isPayable === true && state.expiresAt > now);
}

/**
 * The way to pay that suits a payer best: one that the wallet can pay, that is not slow, and that costs least; the order
 * of the server's offer, which begins with the settlement token, decides between equals.
 */
export function bestOption(
  options: readonly CheckoutOption[],
  balances: Readonly<Record<string, string>>,
): CheckoutOption | undefined {
  const rank = (option: CheckoutOption) => [
    option.status === 'unavailable' ? 1 : 0,
    // It does not take the amount, or none is chosen, which holds for all of them then.
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

/** The least and the highest price that a token takes, in Micro-USD; undefined where the payer chooses none. */
export function boundsOf(option: CheckoutOption | undefined): { least: bigint; most: bigint } | undefined {
  const [least, most] = [parseUsd(option?.minAmountInUSD ?? ''), parseUsd(option?.maxAmountInUSD ?? '')];
  return least === undefined || most === undefined ? undefined : { least, most };
}

/** Whether the wallet has enough of an option's token, as far as is known. */
export function holds(option: CheckoutOption, balances: Readonly<Record<string, string>>): boolean {
  const balance = balances[option.tokenId];
  return balance !== undefined && BigInt(balance) >= BigInt(option.amountInToken);
}
