import {
  type ArrivedMoney,
  type ClaimData,
  type ClaimedMoney,
  type ClaimNetwork,
  type ClaimPlace,
  claimTexts,
  coinAddress,
  type Language,
  shorten,
} from '@florin/checkout';
import type { checkoutApi, WholePlaces } from '@florin/protocol/checkout-api.ts';
import type { Claim } from '@florin/protocol/checkout-order.ts';
import { paymentGatewayAbi } from '@florin/protocol/contract.gen.ts';
import { Refusal } from '@florin/protocol/error.ts';
import type { PaymentException } from '@florin/protocol/exception.ts';
import type { Hex } from '@florin/protocol/order.ts';
import type { BodyOf } from '@florin/protocol/route.ts';
import { formatTimestamp } from '@florin/protocol/timestamp.ts';
import { encodeFunctionData, erc20Abi, getAddress } from 'viem';
import type { Chain } from '#chains/chain.ts';
import { networkFactsOf, networkTitle } from '#chains/networks.ts';
import { decisionEnd } from '#deposits/deposit.machine.ts';
import type { FoundDeposit } from '#deposits/session-deposits.ts';
import { type DepositTerms, findDepositTerms } from '#orders/deposit-terms.ts';
import { findDepositOrders, findOrder } from '#orders/order.ts';
import { gatewayOf } from '#orders/order-gateway.ts';
import { receiverOf, rescueCall } from '#orders/receiver.ts';
import type { StoredOrder } from '#orders/stored-order.ts';
import { unixSeconds } from '#outside/clock.ts';
import type { StoredSession } from '#sessions/stored-session.ts';
import type { CheckoutContext } from './context.ts';
import { shownExceptions, shownKindOf, unappliedOutcomeOf } from './outcome.ts';
import { assertClientCode, sessionOf } from './payment.ts';
import { areInDoubt, findSessionFacts, type SessionFacts } from './session-facts.ts';
import { arrivalOf, heldUntilOf, surplusOf } from './state.ts';

/** The most deposit addresses on one page. */
const maxPlaces = 20;

/**
 * The data of the page about a session's money to return. Reads only the database. Addresses are shortened: payers know
 * theirs, and cannot pay to one that a stranger asked for.
 */
export async function claimData(
  deps: CheckoutContext,
  session: StoredSession,
  { language, title, query }: { language: Language; title: string; query: string },
): Promise<ClaimData> {
  const orders = await findDepositOrders(deps.db, session.sessionId, maxPlaces);
  const facts = (await findSessionFacts(deps, [session]))(session);
  const terms = await findDepositTerms(
    deps.db,
    orders.map(({ orderId }) => orderId),
  );
  const places = orders.flatMap(
    (order) => placeOf(deps, session, { order, facts, terms: terms.get(order.orderId) }) ?? [],
  );
  const sumsOf = ({ money, arrived }: ClaimPlace) => money.length + Number(arrived !== undefined);
  // First come the secret's owner's, then addresses that received money.
  const ordered = [...places].sort(
    (left, right) => Number(left.isUnproven) - Number(right.isUnproven) || sumsOf(right) - sumsOf(left),
  );
  return {
    locale: language.tag,
    words: wordsIn(language.tag),
    texts: sharedTexts(language),
    sessionId: session.sessionId,
    title,
    query,
    isInDoubt: areInDoubt(facts),
    places: ordered,
    least: deps.gasless?.minAmount.toString(),
    reclaimable: await reclaimableOf(deps, session),
  };
}

/**
 * The whole addresses of a session's deposits, for the owner of its secret. Refuses another one (100202). One that was asked for
 * without the secret is left out: money sent there may go back to a stranger.
 */
export async function wholePlaces(
  { db, chains }: Pick<CheckoutContext, 'db' | 'chains'>,
  session: StoredSession,
  clientCode: string,
): Promise<WholePlaces> {
  assertClientCode(session, clientCode);
  const orders = await findDepositOrders(db, session.sessionId, maxPlaces);
  const places = orders.flatMap((order) => {
    const chain = chains.byId(order.chainId);
    const { orderId } = order;
    if (chain === undefined || !order.withSecret) return [];
    const address = receiverOf(gatewayOf(order, chain), orderId);
    return { orderId, address, refundAddress: getAddress(order.order.payer) };
  });
  return { places };
}

function wordsIn(tag: string): ClaimData['words'] {
  const words = claimTexts[tag];
  if (words === undefined) throw new Error(`the claim page does not speak ${tag}`);
  return words;
}

function sharedTexts({ texts }: Language): ClaimData['texts'] {
  const { whyUnderpaid, whyOverpaid, whyLate, whyWrongToken, whyDuplicate, noWallet, rejected } = texts;
  const { wrongNetwork, reverted, refundWrong, browserWallet, walletBusy, disconnected, unseen } = texts;
  const { inDoubtElsewhere, returnTx, explorer, goesBack, wentBack, heldBack, byHand, heldByHand } = texts;
  const { goesLater, secondPaid, takenTwice, closed } = texts;
  return {
    ...{ whyUnderpaid, whyOverpaid, whyLate, whyWrongToken, whyDuplicate, noWallet, rejected },
    ...{ wrongNetwork, reverted, refundWrong, browserWallet, walletBusy, disconnected, unseen },
    ...{ returnTx, explorer, inDoubtElsewhere },
    ...{ goesBack, wentBack, heldBack, byHand, heldByHand, goesLater, secondPaid, takenTwice, closed },
  };
}

function placeOf(
  deps: CheckoutContext,
  session: StoredSession,
  { order, facts, terms }: OrderFacts,
): ClaimPlace | undefined {
  const chain = deps.chains.byId(order.chainId);
  if (chain === undefined) return undefined;
  const address = receiverOf(gatewayOf(order, chain), order.orderId);
  const { exceptions = [], deposits = [], surplus = [], seen } = facts;
  const isHere = ({ orderId }: { readonly orderId: string }) => orderId === order.orderId;
  const found = deposits.find((deposit) => isHere(deposit) && !deposit.isInDoubt);
  const unsettled = [
    found === undefined ? undefined : arrivalOf(deps, found),
    ...surplus.filter(isHere).map((each) => surplusOf(deps, each, seen)),
  ];
  return {
    orderId: order.orderId,
    address: shorten(address),
    refundAddress: shorten(order.order.payer),
    isUnproven: !order.withSecret,
    ...placeIn(chain),
    // The order's own token first: payers usually send that one.
    tokens: [...chain.tokens]
      .sort((left, right) => Number(right.tokenId === order.tokenId) - Number(left.tokenId === order.tokenId))
      .map(({ symbol, address }) => ({ symbol, address })),
    money: [
      ...shownExceptions(exceptions)
        .filter(isHere)
        .flatMap((exception) => moneyOf(deps, session, exception) ?? []),
      ...unsettled.flatMap((money) => (money === undefined ? [] : { ...money, until: money.heldUntil })),
    ],
    arrived:
      found === undefined || found.late !== undefined ? undefined : arrivedOf(deps, found, { order, terms }),
  };
}

/** What is known of an order and of its session's money. */
interface OrderFacts {
  readonly order: StoredOrder;
  readonly facts: SessionFacts;
  readonly terms: DepositTerms | undefined;
}

/** Money at the address of an order that still waits for its payment. When it does not pay, it becomes an exception like this. */
function arrivedOf(
  { gasless }: CheckoutContext,
  { symbol, decimals, amountInToken, missingInToken, payUntil }: FoundDeposit,
  { order, terms }: Pick<OrderFacts, 'order' | 'terms'>,
): ArrivedMoney {
  const isHeld = terms !== undefined && terms.latePayment !== 'return';
  const end = decisionEnd(Number(order.order.payBy));
  const isEnough = BigInt(missingInToken) <= (terms?.tolerance ?? 0n);
  const exception = {
    ...({
      kind: 'underpaid',
      status: 'open',
      decision: '',
      resolvedTx: '',
      txHash: '',
      amountInToken,
    } as const),
    decideBy: isHeld ? formatTimestamp(end) : '',
  };
  return {
    ...{ symbol, decimals, amount: amountInToken, missing: isEnough ? '0' : missingInToken, payUntil },
    outcome: unappliedOutcomeOf(exception, { token: { decimals }, least: gasless?.minAmount }),
    until: heldUntilOf(exception),
  };
}

function placeIn(chain: Chain): ClaimNetwork {
  const network = networkFactsOf(chain);
  const named = { chainId: String(chain.chainId), chainTitle: networkTitle(chain) };
  return network === undefined ? named : { ...named, network };
}

function moneyOf(
  { chains, gasless }: CheckoutContext,
  session: StoredSession,
  exception: PaymentException,
): ClaimedMoney | undefined {
  const kind = shownKindOf(exception);
  const token = chains.token(exception.tokenId);
  if (kind === undefined || token === undefined) return undefined;
  const { symbol, decimals } = token;
  const { amountInToken: amount, decision, orderId } = exception;
  const { resolvedTx: tx } = exception;
  const isPayment = decision === 'accept' && session.orderId === orderId;
  const outcome = isPayment
    ? 'accepted'
    : unappliedOutcomeOf(exception, { token, least: gasless?.minAmount });
  const shown = { kind, symbol, decimals, amount, outcome, until: heldUntilOf(exception) };
  return outcome === 'back' ? { ...shown, tx } : shown;
}

/** The call that returns an unsettled payment after its time. Any wallet can send it. */
async function reclaimableOf(
  { db, chains }: CheckoutContext,
  session: StoredSession,
): Promise<ClaimData['reclaimable'] | undefined> {
  if (session.status !== 'paid' && session.status !== 'settlement_pending') return undefined;
  const order = await findOrder(db, session.orderId);
  const chain = order === undefined ? undefined : chains.byId(order.chainId);
  if (order === undefined || chain === undefined) return undefined;
  const { payer, token, reclaimAt } = order.order;
  return { orderId: order.orderId, payer: shorten(payer), token, from: Number(reclaimAt), ...placeIn(chain) };
}

type Body = BodyOf<(typeof checkoutApi)['routes']['claim']>;

/**
 * The money that can be reclaimed, and the call that does it, once it can. The contract pays the address in the order,
 * regardless of the caller, so a payer without the page's secret may send it, too. Refuses an order of another session (100201), a wrong secret (100202) and a
 * chain that does not answer (900401).
 */
export async function claimOf(
  deps: CheckoutContext,
  body: Body,
  clientCode: string | undefined,
): Promise<Claim> {
  const session = await sessionOf(deps, body.sessionId);
  if (clientCode !== undefined) assertClientCode(session, clientCode);
  const order = await findOrder(deps.db, body.orderId);
  if (order === undefined || order.sessionId !== session.sessionId)
    throw new Refusal('session_not_found', body.orderId);
  const chain = deps.chains.byId(order.chainId);
  if (chain === undefined) throw new Refusal('chain_unavailable', `chain ${order.chainId}`);
  return body.purpose === 'reclaim'
    ? reclaimOf(deps, { session, order, chain })
    : rescueOf(deps, { order, chain, token: body.token as Hex });
}

/** More than enough gas for a rescue, creation of the receiver included. */
const rescueGas = 1_000_000n;
const readGas = 100_000n;

async function rescueOf(
  deps: CheckoutContext,
  { order, chain, token }: { order: StoredOrder; chain: Chain; token: Hex },
): Promise<Claim> {
  const gateway = gatewayOf(order, chain);
  const holder = receiverOf(gateway, order.orderId);
  const data = rescueCall(order, token);
  const found = await heldAt(deps, chain, token, holder);
  // The call fails where the address is empty, and while the order's own token can still be collected.
  const answer = await deps.payerChain.callAt(chain.chainId, { to: gateway, data, gas: rescueGas });
  const isOwn = token.toLowerCase() === order.order.token.toLowerCase();
  return {
    ...found,
    after: isOwn ? Number(order.order.payBy) : 0,
    ...(answer === undefined ? {} : callTo(chain, gateway, data)),
  };
}

function callTo({ chainId }: Chain, to: Hex, data: Hex): Pick<Claim, 'txRequest'> {
  return { txRequest: { chainId: String(chainId), to, data, value: '0' } };
}

/** Bytecode that returns the native balance of an address, for a call that creates nothing. */
function coinReading(holder: Hex): Hex {
  // push20 holder, balance, mstore at 0, return 32 bytes.
  return `0x73${holder.slice(2)}3160005260206000f3`;
}

/**
 * The balance of a token at an address, and its format. For tokens outside the configuration, only the decimals are
 * read.
 */
async function heldAt(
  { payerChain }: CheckoutContext,
  chain: Chain,
  token: Hex,
  holder: Hex,
): Promise<Pick<Claim, 'amount' | 'symbol' | 'decimals'>> {
  const ask = async (call: { to?: Hex; data: Hex }) => {
    const answer = await payerChain.callAt(chain.chainId, { ...call, gas: readGas });
    return answer !== undefined && /^0x[0-9a-f]{64}$/i.test(answer) ? BigInt(answer) : 0n;
  };
  if (token === coinAddress) {
    const { symbol, decimals } = networkFactsOf(chain)?.currency ?? { symbol: 'ETH', decimals: 18 };
    return { amount: (await ask({ data: coinReading(holder) })).toString(), symbol, decimals };
  }
  const read = (data: Hex) => ask({ to: token, data });
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [holder] });
  const amount = (await read(data)).toString();
  const known = chain.tokens.find(({ address }) => address.toLowerCase() === token.toLowerCase());
  if (known !== undefined) return { amount, symbol: known.symbol, decimals: known.decimals };
  const decimals = await read(encodeFunctionData({ abi: erc20Abi, functionName: 'decimals' }));
  // A contract chooses its own symbol, which could copy another token's.
  const symbol = `${token.slice(0, 6)}…${token.slice(-4)}`;
  return { amount, symbol, decimals: decimals <= 36n ? Number(decimals) : 0 };
}

function reclaimOf(
  { clock, chains }: CheckoutContext,
  { session, order, chain }: { session: StoredSession; order: StoredOrder; chain: Chain },
): Claim {
  const isOpen = session.orderId === order.orderId && ['paid', 'settlement_pending'].includes(session.status);
  const after = Number(order.order.reclaimAt);
  const { symbol = '', decimals = 0 } = chains.token(order.tokenId) ?? {};
  const data = encodeFunctionData({
    abi: paymentGatewayAbi,
    functionName: 'reclaim',
    args: [order.order],
  });
  return {
    amount: isOpen ? order.order.total.toString() : '0',
    symbol,
    decimals,
    after,
    ...(isOpen && unixSeconds(clock.now()) >= after ? callTo(chain, gatewayOf(order, chain), data) : {}),
  };
}
