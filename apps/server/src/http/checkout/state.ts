import { shorten } from '@florin/checkout';
import type { CheckoutOption, CheckoutState } from '@florin/protocol/checkout-state.ts';
import type { PaymentException } from '@florin/protocol/exception.ts';
import { type MicroUsd, microUsd } from '@florin/protocol/money.ts';
import type { SessionDeposit } from '@florin/protocol/session.ts';
import { returnUrlOf } from '@florin/protocol/shop-return.ts';
import { merchantNames, merchantText, merchantTextLimits } from '#authorizations/merchant-text.ts';
import { quoteFor, sessionTerms, type Terms } from '#authorizations/offer.ts';
import { networkTitle } from '#chains/networks.ts';
import { type FoundDeposit, pageDepositOf, type Surplus } from '#deposits/session-deposits.ts';
import { microUsdOf } from '#exceptions/deposit-exception.ts';
import { findLink } from '#links/link-lookup.ts';
import type { StoredLink } from '#links/stored-link.ts';
import { type AddressTerms, findDepositAddresses } from '#orders/deposit-terms.ts';
import { type AmountBounds, type PaymentRoute, priceBounds, routesTo, widestOf } from '#orders/quote.ts';
import { findDirectChain } from '#orders/settlement-mode.ts';
import { unixSeconds } from '#outside/clock.ts';
import { isReturnedInFull, type SeenPayment, withoutFinality } from '#sessions/progress.ts';
import type { SessionState, StoredSession } from '#sessions/stored-session.ts';
import type { CheckoutContext } from './context.ts';
import { shownExceptions, shownKindOf, unappliedOutcomeOf } from './outcome.ts';
import { paymentOf } from './seen-payment.ts';
import { areInDoubt, type SessionFacts } from './session-facts.ts';

/** Statuses in which the payer's payment is final. */
const paidStatuses: readonly StoredSession['status'][] = [
  'paid',
  'settling',
  'completed',
  'settlement_pending',
];

export function isPaid(session: Pick<StoredSession, 'status'>): boolean {
  return paidStatuses.includes(session.status);
}

/** Whether a payment may still begin: none was seen, and the session has not expired. */
export function isPayable(session: SessionState, now: Date): boolean {
  return session.status === 'initialized' && session.initiateTx === '' && session.expirationTime > now;
}

type ShownException = CheckoutState['exceptions'][number];

/** An exception as pages show it; `isUnproven` where its order was asked for without the session's secret. */
function exceptionOf(
  { chains, gasless }: Pick<CheckoutContext, 'chains' | 'gasless'>,
  exception: Omit<
    PaymentException,
    'exceptionId' | 'sessionId' | 'orderId' | 'payer' | 'isGone' | 'createAt' | 'updateAt'
  >,
  isUnproven: boolean,
): ShownException | undefined {
  const kind = shownKindOf(exception);
  const token = chains.token(exception.tokenId);
  if (kind === undefined || token === undefined) return undefined;
  const { tokenId, symbol, decimals, chainId } = token;
  const outcome = unappliedOutcomeOf(exception, { token, least: gasless?.minAmount });
  return {
    kind,
    tokenId,
    symbol,
    decimals,
    amount: exception.amountInToken,
    outcome,
    heldUntil: heldUntilOf(exception),
    isUnproven,
    ...(outcome === 'back' ? { returned: { tx: exception.resolvedTx, chainId: String(chainId) } } : {}),
  };
}

/** Money at an address of an expired session, as the exception that it becomes with its final block. */
export function arrivalOf(
  deps: Pick<CheckoutContext, 'chains' | 'gasless'>,
  { tokenId, amountInToken, missingInToken, late, onlyFor }: FoundDeposit,
): ShownException | undefined {
  if (late === undefined) return undefined;
  const open = { status: 'open', resolvedTx: '', txHash: '', ...late } as const;
  const kind = missingInToken === '0' ? 'late' : 'underpaid';
  return exceptionOf(deps, { ...open, kind, tokenId, amountInToken }, onlyFor !== undefined);
}

/** Money beside the payment of a session, as the exception that it becomes with its final block. */
export function surplusOf(
  deps: Pick<CheckoutContext, 'chains' | 'gasless'>,
  { orderId, tokenId, amountInToken, isUnproven }: Surplus,
  seen: SeenPayment | undefined,
): ShownException | undefined {
  const kind = seen?.orderId === orderId ? 'overpaid' : 'duplicate';
  const open = { status: 'open', resolvedTx: '', txHash: '', decision: '', decideBy: '' } as const;
  return exceptionOf(deps, { ...open, kind, tokenId, amountInToken }, isUnproven);
}

/** Unix seconds. Money that the merchant may accept, or might have, cannot go back before. */
export function heldUntilOf({
  decideBy,
  resolvedTx,
}: Pick<PaymentException, 'decideBy' | 'resolvedTx'>): number {
  return decideBy === '' || resolvedTx !== '' ? 0 : Math.floor(Date.parse(`${decideBy}Z`) / 1000);
}

/** An accepted deposit is the payment, which the page shows instead once a block has it. */
function isOutside({ decision, status, orderId }: PaymentException, session: SessionState): boolean {
  if (decision !== 'accept') return true;
  return status === 'resolved' ? session.orderId !== orderId : isExpiredUnpaid(session);
}

const isExpiredUnpaid = ({ status, initiateTx }: SessionState) => status === 'expired' && initiateTx === '';

/** What pages tell of money that paid nothing. */
function exceptionsNow(
  deps: Pick<CheckoutContext, 'chains' | 'gasless'>,
  session: SessionState,
  found: SessionFacts,
): ShownException[] {
  const { seen, isLost, deposits = [], surplus = [], unproven } = found;
  return [
    ...shownExceptions(found.exceptions ?? [])
      .filter((exception) => isOutside(exception, session))
      // What was too much came with the payment that is gone.
      .filter(({ orderId }) => isLost !== true || orderId !== session.orderId)
      .flatMap((exception) => exceptionOf(deps, exception, unproven?.has(exception.orderId) === true) ?? []),
    ...deposits.flatMap((deposit) => arrivalOf(deps, deposit) ?? []),
    ...surplus.flatMap((each) => surplusOf(deps, each, seen) ?? []),
  ];
}

/** The state of a session for all its pages; `withOwnDeposit` makes it that of one. */
export async function checkoutState(
  deps: CheckoutContext,
  stored: SessionState,
  found: SessionFacts = {},
): Promise<CheckoutState> {
  const { seen, deposits: arrived = [], address } = found;
  const isInDoubt = areInDoubt(found);
  const deposits = arrived.filter((deposit) => !deposit.isInDoubt);
  const session = isInDoubt ? withoutFinality(stored) : stored;
  const takesPayment = !isInDoubt && isPayable(session, deps.clock.now());
  const shown = takesPayment ? shownDepositOf(deps, session.shownOrderId, address) : {};
  const exceptions = exceptionsNow(deps, session, { ...found, deposits });
  return {
    sessionId: session.sessionId,
    status: session.status,
    isPayable: takesPayment,
    ...(session.signedOnce ? { isSigned: true } : {}),
    expiresAt: unixSeconds(session.expirationTime),
    amount: session.amount.toString(),
    initiateTx: session.initiateTx,
    completeTx: session.completeTx,
    pendingReason: session.pendingReason,
    ...(seen === undefined ? {} : { payment: paymentOf(seen) }),
    ...(isInDoubt ? { isInDoubt } : {}),
    paidAt: session.paymentSucceededAt?.toISOString() ?? '',
    settledAt: session.settlementSucceededAt?.toISOString() ?? '',
    receiptId: session.receiptId,
    ...(session.receiptNames === undefined ? {} : { receiptNames: merchantNames(session.receiptNames) }),
    ...(deps.notify === undefined || session.payerEmail === ''
      ? {}
      : { receiptTo: shortenEmail(session.payerEmail) }),
    deposits: deposits
      .filter(({ late }) => late === undefined)
      .map((deposit) => ({
        ...pageDepositOf(deposit),
        ...(deposit.walletOrderId === shown.shownDeposit?.orderId ? ({ isShown: true } as const) : {}),
      })),
    ...shown,
    exceptions,
    refunded: session.refundedAmount.toString(),
    isRefunded: await isReturnedInFull(deps.db, session),
    ...returnOf(session, exceptions),
    ...(isPaid(session) ? await successTextOf(deps, session) : {}),
  };
}

/** A deposit address as pages show it. */
export function shownDepositOf(
  { chains }: Pick<CheckoutContext, 'chains'>,
  orderId: string,
  found: AddressTerms | undefined,
): Pick<CheckoutState, 'shownDeposit'> {
  const token = found === undefined ? undefined : chains.token(found.tokenId);
  if (found === undefined || token === undefined) return {};
  const { tokenId, address, refundAddress, amountInToken, payUntil, leastInToken, lateUntil } = found;
  const amount = amountInToken.toString();
  return {
    shownDeposit: {
      ...{ orderId, tokenId, address, refundTo: shorten(refundAddress), amountInToken: amount, payUntil },
      transferUri: `ethereum:${token.address}@${token.chainId}/transfer?address=${address}&uint256=${amount}`,
      ...(leastInToken === amountInToken ? {} : { leastInToken: leastInToken.toString() }),
      ...(lateUntil === undefined ? {} : { lateUntil }),
    },
  };
}

/**
 * The state with the deposit address of a given order of the session, for a page that shows its own; that of the session
 * where it has no such order. What arrived at addresses that others asked for without the session's secret is set apart, and
 * small amounts are left out: money that follows there goes back to the address that they named.
 */
export async function withOwnDeposit(
  deps: Pick<CheckoutContext, 'db' | 'chains' | 'gasless'>,
  sessionId: string,
  orderId: string | undefined,
): Promise<(state: CheckoutState) => CheckoutState> {
  const found =
    orderId === undefined ? undefined : (await findDepositAddresses(deps.db, [orderId])).get(orderId);
  const ownId = found?.sessionId === sessionId ? orderId : undefined;
  const own = ownId === undefined ? {} : shownDepositOf(deps, ownId, found);
  const isWorth = ({ tokenId, amountInToken }: SessionDeposit) => {
    const token = deps.chains.token(tokenId);
    return token !== undefined && microUsdOf(token, BigInt(amountInToken)) >= (deps.gasless?.minAmount ?? 0n);
  };
  return (state) => {
    const apart = state.deposits.flatMap(({ onlyFor = ownId, isShown: _isShown, ...deposit }) =>
      onlyFor !== ownId && isWorth(deposit) ? deposit : [],
    );
    return {
      ...state,
      deposits: state.deposits.filter(({ onlyFor = ownId }) => onlyFor === ownId),
      ...(apart.length === 0 ? {} : { apart }),
      ...(state.isPayable ? own : {}),
    };
  };
}

/** The first character before and after the @, and the last part: enough to see which of one's own addresses it is. */
function shortenEmail(email: string): string {
  return email.replace(/^(.)[^@]*@(.).*(\.[^.]*)$/u, '$1•••@$2•••$3');
}

/**
 * The ways to the shop: ahead once a block has the payment, back as long as none has. A payer whose money paid nothing is to
 * read what becomes of it, so the page stays.
 */
function returnOf(
  session: SessionState,
  exceptions: CheckoutState['exceptions'],
): Pick<CheckoutState, 'successUrl' | 'returnsAlone' | 'cancelUrl'> {
  const { sessionId, status, successUrl, cancelUrl } = session;
  if (!isPaid(session) && session.initiateTx === '') {
    const end = status === 'expired' || status === 'cancelled' ? status : 'open';
    return cancelUrl === '' ? {} : { cancelUrl: returnUrlOf(cancelUrl, sessionId, end) };
  }
  if (successUrl === '') return {};
  const isFinal = isPaid(session);
  const isAlone =
    isFinal &&
    session.autoReturn === 'paid' &&
    exceptions.every(({ kind, isUnproven }) => isUnproven && kind !== 'overpaid');
  return {
    successUrl: returnUrlOf(successUrl, sessionId, isFinal ? 'paid' : 'processing'),
    ...(isAlone ? { returnsAlone: true } : {}),
  };
}

/** The merchant's message to a payer who has paid: the session's own, or its link's present one. */
async function successTextOf(
  { db, clock }: Pick<CheckoutContext, 'db' | 'clock'>,
  session: SessionState,
): Promise<Pick<CheckoutState, 'successText'>> {
  const link = session.businessId === '' ? undefined : await findLink(db, session.businessId, clock.now());
  const given = link?.customSuccessText ?? session.customSuccessText;
  const text = merchantText(given, merchantTextLimits.customSuccessText);
  return text === '' ? {} : { successText: text };
}

/** The ways to pay a link for a price. Without a price (custom links): every way, without an amount. */
export function linkOptions(
  deps: CheckoutContext,
  link: StoredLink,
  amount: MicroUsd | undefined,
): CheckoutOption[] {
  const { settlementToken, feeModel } = link;
  return optionsOf(deps, {
    settlementToken,
    feeModel,
    price: amount === undefined ? { kind: 'open' } : { kind: 'price', paymentValue: amount },
  });
}

/**
 * The ways to pay a session. An AI protocol session keeps the token whose amount its payer signed; a session with a
 * direct order keeps its chain.
 */
export async function sessionOptions(
  deps: CheckoutContext,
  session: StoredSession,
): Promise<CheckoutOption[]> {
  const onlyChain = isPaid(session) ? undefined : await findDirectChain(deps.db, session);
  return optionsOf(deps, sessionTerms(session)).filter(
    ({ tokenId, chainId }) =>
      [tokenId, ''].includes(session.intendedToken) && [chainId, undefined].includes(onlyChain?.toString()),
  );
}

function optionsOf(deps: CheckoutContext, terms: Terms): CheckoutOption[] {
  return routesTo(deps.chains, deps.rates, terms.settlementToken).flatMap(
    (route) => optionOf(deps, route, terms) ?? [],
  );
}

/**
 * The prices that a payer may choose on the page of a custom link, over all its tokens. With fee model 2 the fee is
 * added to the price.
 */
export function linkBounds(
  deps: CheckoutContext,
  { settlementToken, feeModel }: StoredLink,
): Pick<CheckoutOption, 'least' | 'most'> {
  const routes = routesTo(deps.chains, deps.rates, settlementToken);
  const bounds = widestOf(routes.flatMap((route) => priceBounds(route, feeModel) ?? []));
  return bounds === undefined ? {} : shownBounds(bounds);
}

const shownBounds = ({ least, most }: AmountBounds) => ({ least: least.toString(), most: most.toString() });

function optionOf(
  { chains }: CheckoutContext,
  route: PaymentRoute,
  terms: Terms,
): CheckoutOption | undefined {
  const quote = quoteFor(route, terms);
  const bounds = terms.price.kind === 'open' ? priceBounds(route, terms.feeModel) : undefined;
  const { paymentToken: token, condition } = route;
  const chain = chains.byId(token.chainId);
  if (chain === undefined || (quote === undefined && bounds === undefined)) return undefined;
  const { totalValue, paymentValue } = quote?.amounts ?? {
    totalValue: microUsd(0n),
    paymentValue: microUsd(0n),
  };
  return {
    tokenId: token.tokenId,
    chainId: token.chainId.toString(),
    chainTitle: networkTitle(chain),
    symbol: token.symbol,
    decimals: token.decimals,
    amountInToken: (quote?.amountInToken ?? 0n).toString(),
    total: totalValue.toString(),
    fee: (totalValue - paymentValue).toString(),
    ...(bounds === undefined ? {} : shownBounds(bounds)),
    status: condition.status,
    secondsToFinal: Math.ceil(chains.conditions?.of(token.chainId).secondsToFinal ?? 0),
  };
}
