import type { CheckoutOption, CheckoutState, ShownState } from '@florin/protocol/checkout-state.ts';
import type { CheckoutData } from './data.ts';
import { shorten } from './format.ts';
import { stages } from './stages.ts';
import type { Wallet } from './wallet-type.ts';

/** The page's state. */
export interface Model {
  readonly data: CheckoutData;
  /** The session's secret from the fragment; empty on a link's page and after a hand-off. */
  readonly clientCode: string;
  /** Undefined before the browser was asked. */
  readonly wallets?: readonly Wallet[];
  readonly wallet?: Wallet | undefined;
  /** The wallet's address as the wallet spells it. */
  readonly payer: string;
  /** In smallest units by tokenId; absent while unknown. */
  readonly balances: Readonly<Record<string, string>>;
  /** The tokenId that the payer or the page chose. */
  readonly chosen: string;
  /** Whether the payer chose it, or pressed Pay: then it stays, whatever a wallet has. */
  readonly isOwnChoice: boolean;
  /** Where the money comes from: a wallet on this page, or a transfer to an address. */
  readonly source: 'wallet' | 'address';
  /** The payment's stage, as an index of `stagesOf`. */
  readonly stage: number;
  /** Whether the wallet gave an allowance; false: none was needed. Undefined before the page knows. */
  readonly hasAllowed: boolean | undefined;
  /** The current step for the payer, or the current wait; empty when idle. */
  readonly step: string;
  readonly problem: string;
  /** What the step waits for, if the payer can stop waiting; a wallet can be asked again. */
  readonly waitsFor: '' | 'wallet' | 'chain';
  /** The payer declined to sign, or the wallet failed to: a transaction also pays. */
  readonly mayPayPlainly: boolean;
  /** The problem of the typed amount. */
  readonly amountProblem: string;
  /** The payment has left the wallet. */
  readonly isSent: boolean;
  /** The e-mail address that was typed in this tab. */
  readonly email: string;
  /** The refund address of the last deposit in this browser; empty: none. */
  readonly refund: string;
  /** The order whose deposit address this page alone shows, without the session's secret; empty: none. */
  readonly own: string;
  /** The order whose deposit address this page alone hides; empty: none. */
  readonly hidden: string;
  /** Whether the page's own address was copied. */
  readonly isCopied: boolean;
  readonly isConnected: boolean;
  /** Whether the device is a phone or tablet, and the page's address without its secret. */
  readonly device: { readonly isHandheld: boolean; readonly url: string };
  /** The part of the page with the session's state; undefined while it is as the server rendered it. */
  readonly shown?: ShownState | undefined;
}

/** The page's state before anything happens on it. */
export function initialModel(data: CheckoutData): Model {
  return {
    data,
    clientCode: '',
    payer: '',
    balances: {},
    chosen: bestOption(data.options, {})?.tokenId ?? '',
    isOwnChoice: false,
    source: 'wallet',
    stage: stages.connect,
    hasAllowed: undefined,
    step: '',
    problem: '',
    waitsFor: '',
    mayPayPlainly: false,
    amountProblem: '',
    isSent: false,
    email: '',
    refund: '',
    own: '',
    hidden: '',
    isCopied: false,
    isConnected: true,
    device: { isHandheld: false, url: '' },
  };
}

type Progress = Pick<CheckoutState, 'status' | 'initiateTx'> | undefined;

/** Whether a block has a payment of the session, final or not. */
export function isMade(state: Progress): boolean {
  return (
    state !== undefined &&
    (state.initiateTx !== '' || !['initialized', 'expired', 'cancelled'].includes(state.status))
  );
}

/**
 * Whether the payment came from this page, as far as it knows: from its wallet, with its refund address, or, without a wallet,
 * on a page with the session's secret, whose devices are all the payer's.
 */
export function isPaidHere({ data, payer, refund, clientCode }: Model): boolean {
  const by = data.state?.payment?.payer.toLowerCase();
  return (
    (payer === '' && clientCode !== '') || [payer, refund].some((own) => shorten(own).toLowerCase() === by)
  );
}

/** Whether no further payment is due: the session is paid or has ended. */
export function isOver(state: Progress): boolean {
  return state !== undefined && (state.initiateTx !== '' || state.status !== 'initialized');
}

/** Outcomes after which the service moves no more money. */
const ended: ReadonlySet<CheckoutState['exceptions'][number]['outcome']> = new Set([
  'by_hand',
  'taken',
  'closed',
  'back',
]);

/** Whether a session changes no more except by the operator: none of its money is under way. */
export function isAtEnd({ status, exceptions }: Pick<CheckoutState, 'status' | 'exceptions'>): boolean {
  return (
    ['completed', 'expired', 'cancelled'].includes(status) &&
    exceptions.every(({ outcome }) => ended.has(outcome))
  );
}

/** Whether a session waits for its payment. `now` is in Unix seconds. */
export function isOpen(
  { status, initiateTx, expiresAt }: Pick<CheckoutState, 'status' | 'initiateTx' | 'expiresAt'>,
  now: number,
): boolean {
  return status === 'initialized' && initiateTx === '' && expiresAt > now;
}

/** Whether a payment may begin on this page. */
export function mayPay({ data, isSent }: Pick<Model, 'data' | 'isSent'>, now: number): boolean {
  if (isSent) return false;
  const { state } = data;
  return data.link !== undefined || (state?.isPayable === true && state.expiresAt > now);
}

/**
 * The best option for a payer: affordable, on the network that the wallet is on, fast and cheapest, in this order. Ties follow
 * the server's order, which starts with the settlement token.
 */
export function bestOption(
  options: readonly CheckoutOption[],
  balances: Readonly<Record<string, string>>,
  walletChain = '',
): CheckoutOption | undefined {
  const rank = (option: CheckoutOption) =>
    [
      option.status === 'unavailable',
      // It does not accept the amount, or no amount is chosen, which is then true of all.
      option.total === '0',
      !holds(option, balances),
      !holds(option, balances) || option.chainId !== walletChain,
      option.status === 'delayed',
    ].reduce((sum, isWorse) => 2 * sum + Number(isWorse), 0);
  return [...options].sort(
    (left, right) => rank(left) - rank(right) || Number(left.total) - Number(right.total),
  )[0];
}

/** Whether the page shows a deposit address instead of the ways to pay. What is under way here is not disturbed. */
export function hasDeposit({
  data,
  own,
  hidden,
  step,
}: Pick<Model, 'data' | 'own' | 'hidden' | 'step'>): boolean {
  const orderId = data.state?.shownDeposit?.orderId;
  // A page with an address of its own never shows another, not even until its own is read again.
  return orderId !== undefined && orderId === (own || orderId) && orderId !== hidden && step === '';
}

/** The chosen option, while it is offered. */
export function chosenOf({ data, chosen }: Pick<Model, 'data' | 'chosen'>): CheckoutOption | undefined {
  return data.options.find(({ tokenId }) => tokenId === chosen);
}

/** The total and the fee that the page shows: the payment's own, else the chosen option's while it can pay. */
export function pricedBy(model: Pick<Model, 'data' | 'chosen'>, now: number) {
  const { state } = model.data;
  return state === undefined || isOpen(state, now) ? chosenOf(model) : state.payment;
}

/** The change with which the page shows a newer state. */
export function withState({ data }: Pick<Model, 'data'>, shown: ShownState): Pick<Model, 'data' | 'shown'> {
  return { data: { ...data, state: shown.state }, shown };
}

/** Whether plain transfers of enough money can pay. An agent's session accepts only its own wallet. */
export function isForTransfers({ data }: Pick<Model, 'data'>): boolean {
  return data.intendedPayer === '' && data.minDeposit !== undefined;
}

/** Whether a plain transfer can pay the chosen option. */
export function isDepositable(model: Pick<Model, 'data' | 'chosen'>): boolean {
  const total = chosenOf(model)?.total;
  if (total === undefined || !isForTransfers(model)) return false;
  return total === '0' || BigInt(total) >= BigInt(model.data.minDeposit ?? 0);
}

/** Whether the money comes by a plain transfer: then the connected wallet does not pay. */
export function isByAddress(model: Pick<Model, 'data' | 'chosen' | 'source'>): boolean {
  return model.source === 'address' && isDepositable(model);
}

/** How much the wallet has too little of the chosen option's token; none while its balance is unknown. */
export function missingOf(model: Pick<Model, 'data' | 'chosen' | 'balances'>): bigint {
  const balance = model.balances[model.chosen];
  return balance === undefined ? 0n : BigInt(chosenOf(model)?.amountInToken ?? 0) - BigInt(balance);
}

/** Whether the wallet is known to have too little of the chosen option's token. */
export const isShort = (model: Pick<Model, 'data' | 'chosen' | 'balances'>) => missingOf(model) > 0n;

/** Whether the wallet is known to have enough of an option's token. */
export function holds(option: CheckoutOption, balances: Readonly<Record<string, string>>): boolean {
  const balance = balances[option.tokenId];
  return balance !== undefined && BigInt(balance) >= BigInt(option.amountInToken);
}
