import { RpcError, RpcUnavailable } from '@florin/evm';
import type { ExceptionKind } from '@florin/protocol/exception.ts';
import { type MicroUsd, microUsd } from '@florin/protocol/money.ts';
import type { Token } from '@florin/protocol/token.ts';
import type { Chain, Chains } from '#chains/chain.ts';
import { type ChainCursor, findCursor } from '#chains/watcher/cursor.ts';
import { type ExceptionContext, findDecisions, raise } from '#exceptions/exception.ts';
import { type DepositTerms, findDepositTerms } from '#orders/deposit-terms.ts';
import { findOrders } from '#orders/order.ts';
import { gatewayOf } from '#orders/order-gateway.ts';
import { receiverOf } from '#orders/receiver.ts';
import type { StoredOrder } from '#orders/stored-order.ts';
import { unixSeconds } from '#outside/clock.ts';
import { findSessionStates, lockSession } from '#sessions/session.ts';
import type { SessionState } from '#sessions/stored-session.ts';
import { type DepositState, verdictOf } from './deposit.machine.ts';
import { ordersToLookAt } from './deposit.sql.ts';
import { readBalances } from './deposit-call.ts';
import { lookAtBudgets, nothingTold } from './deposit-gas.ts';
import { add, collect, type DecidedFor, type DepositMoveDeps, sendBack } from './deposit-move.ts';
import { endSightings, sightedOrders } from './deposit-search.sql.ts';
import { fullPace, lookAfterSeconds, type SearchDeps, searchBlocks } from './deposit-search.ts';

export interface DepositSettings {
  /** Milliseconds between two looks at new blocks. */
  readonly windowMs: number;
  /** Milliseconds between two looks at balances, each of two hundred addresses at the most. */
  readonly balanceWindowMs: number;
  /** What is worth a transaction of ours, in Micro-USD: less is neither collected nor sent back. */
  readonly minAmount: MicroUsd;
}

export interface DepositDeps extends ExceptionContext, DepositMoveDeps {
  readonly chains: Chains;
  readonly settings: DepositSettings & SearchDeps['settings'];
}

/** Orders of each lane whose balances are read in one look. */
const balanceBatches = { sighted: 100, open: 50, closed: 50 } as const;
/** What is told to the merchant at all, in Micro-USD: anybody can send dust to an address. */
export const noticedAmount = microUsd(10_000n);

/** Between two looks whether budgets of gas have room again. */
const budgetIntervalMs = 60_000;

/** Looks after deposit addresses until the signal aborts: collects what pays an order, sends back what does not. */
export async function runDeposits(given: DepositDeps, signal: AbortSignal): Promise<void> {
  const toldBudgets = given.toldBudgets ?? nothingTold();
  const deps = { ...given, toldBudgets };
  const { depositBudgets } = deps.settings;
  const loops = deps.chains.all.flatMap((chain) => {
    const pace = fullPace();
    const places = firstPlaces();
    return [
      repeat(deps, signal, deps.settings.windowMs, () => searchBlocks(deps, chain, pace)),
      repeat(deps, signal, deps.settings.balanceWindowMs, () => lookAtBalances(deps, chain, places)),
    ];
  });
  if (depositBudgets !== undefined)
    loops.push(repeat(deps, signal, budgetIntervalMs, () => lookAtBudgets(deps, depositBudgets)));
  await Promise.all(loops);
}

async function repeat(
  deps: DepositDeps,
  signal: AbortSignal,
  windowMs: number,
  round: () => Promise<void>,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await round();
    } catch (error) {
      // Nothing is lost: what lies at an address lies there in the next round, too.
      if (error instanceof RpcUnavailable || error instanceof RpcError)
        deps.log.warn('deposits.rpc_failed', { reason: error.message });
      else deps.log.error('deposits.round_failed', error);
      await deps.clock.sleep(1_000, signal);
    }
    await deps.clock.sleep(windowMs, signal);
  }
}

interface BalancePlace {
  readonly payBy: bigint;
  readonly orderId: string;
}

/** Where each lane of the balances goes on: addresses that blocks showed a transfer to, open ones, closed ones. */
type BalancePlaces = Record<keyof typeof balanceBatches, BalancePlace>;

export function firstPlaces(): BalancePlaces {
  const first = { payBy: 0n, orderId: '' };
  return { sighted: first, open: first, closed: first };
}

/**
 * Reads the final balances of some addresses, all configured tokens of each, and goes on from there the next time. First
 * those to which blocks showed a transfer: they may hold too little, too much, another token, or what came too late. The
 * others are a safety net for what nodes have left out of their logs; open orders do not wait for closed ones.
 */
export async function lookAtBalances(deps: DepositDeps, chain: Chain, places: BalancePlaces): Promise<void> {
  const now = unixSeconds(deps.clock.now());
  const since = now - lookAfterSeconds;
  const sighted = await ordersOfLane(places, 'sighted', (place, limit) =>
    deps.db.query(sightedOrders, { chainId: chain.chainId, fromPayBy: since, ...place, limit }),
  );
  const open = await ordersOfLane(places, 'open', (place, limit) =>
    deps.db.query(ordersToLookAt, {
      chainId: chain.chainId,
      fromPayBy: now,
      untilPayBy: endOfTime,
      ...place,
      limit,
    }),
  );
  const closed = await ordersOfLane(places, 'closed', (place, limit) =>
    deps.db.query(ordersToLookAt, {
      chainId: chain.chainId,
      fromPayBy: since,
      untilPayBy: now,
      ...place,
      limit,
    }),
  );
  const orderIds = [...new Set([...sighted, ...open, ...closed])];
  if (orderIds.length === 0) return;
  const orders = await findOrders(deps.db, orderIds);
  // Before the cursor: a payment that a session shows lies below the final block, so the balance is what is left of it.
  const sessions = await findSessionStates(deps.db, [...new Set(orders.map(({ sessionId }) => sessionId))]);
  const cursor = await findCursor(deps.db, chain.chainId);
  if (cursor === undefined || cursor.haltedReason !== '') return;
  const found = await readFindings(deps, chain, cursor, orders);
  const foundIds = [...new Set<string>(found.map(({ order }) => order.orderId))];
  const empty = sighted.filter((orderId) => !foundIds.includes(orderId));
  if (sighted.length > 0)
    await deps.db.query(endSightings, {
      chainId: chain.chainId,
      orderIds: empty,
      blockNumber: cursor.finalNumber,
      payBy: since,
    });
  if (found.length === 0) return;
  const [terms, decisions] = await Promise.all([
    findDepositTerms(deps.db, foundIds),
    findDecisions(deps.db, foundIds),
  ]);
  for (const finding of found) {
    const session = sessions.get(finding.order.sessionId);
    const { orderId } = finding.order;
    const known = { terms: terms.get(orderId), decided: decisions.get(orderId) };
    if (session !== undefined) await actOn(deps, { chain, cursor, session, ...finding }, known);
  }
}

/** Later than any deadline. */
const endOfTime = 2n ** 62n;

/** The next orders of a lane, which begins again after its end. */
async function ordersOfLane(
  places: BalancePlaces,
  lane: keyof BalancePlaces,
  read: (
    place: { readonly afterPayBy: bigint; readonly afterOrderId: string },
    limit: number,
  ) => Promise<{ order_id: string; pay_by: bigint }[]>,
): Promise<string[]> {
  const { payBy, orderId } = places[lane];
  const rows = await read({ afterPayBy: payBy, afterOrderId: orderId }, balanceBatches[lane]);
  const last = rows.at(-1);
  const isEnd = last === undefined || rows.length < balanceBatches[lane];
  places[lane] = isEnd ? { payBy: 0n, orderId: '' } : { payBy: last.pay_by, orderId: last.order_id };
  return rows.map((row) => row.order_id);
}

/** What is worth a word at the addresses of some orders, at the final block. */
async function readFindings(
  deps: DepositDeps,
  chain: Chain,
  cursor: ChainCursor,
  orders: readonly StoredOrder[],
): Promise<Pick<Finding, 'order' | 'token' | 'amount'>[]> {
  const holdings = orders.flatMap((order) => {
    const holder = receiverOf(gatewayOf(order, chain), order.orderId);
    return chain.tokens.map((token) => ({ order, token, holding: { token: token.address, holder } }));
  });
  const amounts = await readBalances(
    deps.rpcOf(chain.chainId),
    holdings.map(({ holding }) => holding),
    cursor.finalNumber,
  );
  return holdings.flatMap(({ order, token }, index) => {
    const amount = amounts[index] ?? 0n;
    return microUsdOf(token, amount) < noticedAmount ? [] : [{ order, token, amount }];
  });
}

/** Units of a token in Micro-USD, rounded down. */
function microUsdOf({ decimals }: Token, amount: bigint): MicroUsd {
  const value = amount / 10n ** BigInt(decimals - 6);
  return microUsd(value < BigInt(Number.MAX_SAFE_INTEGER) ? value : BigInt(Number.MAX_SAFE_INTEGER));
}

interface Finding {
  readonly chain: Chain;
  readonly cursor: ChainCursor;
  readonly session: SessionState;
  readonly order: StoredOrder;
  readonly token: Token;
  /** At a final block, in units of the token. */
  readonly amount: bigint;
}

type Decided = ReturnType<Awaited<ReturnType<typeof findDecisions>>['get']>;

/** What was agreed about an address, and what the merchant has decided since. */
interface Known {
  readonly terms: DepositTerms | undefined;
  readonly decided: Decided;
}

async function actOn(deps: DepositDeps, finding: Finding, known: Known): Promise<void> {
  const { chain, order, token } = finding;
  if (token.tokenId !== order.tokenId) return giveBack(deps, finding, 'wrong_token');
  const { terms, decided } = known;
  const verdict = verdictOf(stateOf(finding, known));
  switch (verdict.move) {
    case 'none':
    case 'wait':
      return;
    case 'collect':
      return collect(deps, chain, order, decidedFor(deps, finding));
    case 'add':
      if (await add(deps, chain, order, { most: addedAtMost(terms, decided), ...decidedFor(deps, finding) }))
        await tell(deps, finding, { kind: 'underpaid', decision: 'accept' });
      return;
    case 'hold':
      await tell(deps, finding, { kind: verdict.kind, ...decisionEndOf(finding, terms) });
      return;
    case 'return':
      return giveBack(deps, finding, verdict.kind);
  }
}

function stateOf({ cursor, session, order, amount }: Finding, { terms, decided }: Known): DepositState {
  const { total, payBy } = order.order;
  return {
    orderId: order.orderId,
    amount,
    total,
    least: total - addedAtMost(terms, decided),
    payBy,
    finalTime: BigInt(unixSeconds(cursor.finalTime)),
    headTime: BigInt(unixSeconds(cursor.headTime)),
    paidOrderId: session.orderId,
    isPaymentSeen: session.initiateTx !== '',
    isExpired: session.status === 'expired',
    isLateAccepted: (decided?.decision ?? terms?.latePayment) === 'accept',
    isPromised: decided?.decision === 'accept',
  };
}

/** A merchant who accepts a short deposit may lean on the operator further than the link's own tolerance goes. */
function addedAtMost(terms: DepositTerms | undefined, decided: Decided): bigint {
  const isShortAccepted = decided?.kind === 'underpaid' && decided.decision === 'accept';
  return (isShortAccepted ? terms?.mostAdded : terms?.tolerance) ?? 0n;
}

/** What comes after the end is accepted by being collected: the merchant is told with the collection, and not before. */
function decidedFor(deps: DepositDeps, { session, order, token, amount }: Finding): DecidedFor {
  const during = session.status;
  if (during !== 'expired') return { during };
  const money = { tokenId: token.tokenId, amount };
  const said = { order, money, txHash: '', kind: 'late', decision: 'accept' } as const;
  return {
    during,
    async promise(transaction, locked) {
      await raise(transaction, deps, { ...said, session: locked });
    },
  };
}

/** A collection has to be in a block by the order's deadline: an acceptance in the last minutes would promise too much. */
const decisionMarginSeconds = 300;

/** Nothing is to be decided where what is late goes back. */
function decisionEndOf({ order }: Finding, terms: DepositTerms | undefined): { decideBy?: Date } {
  if (terms === undefined || terms.latePayment === 'return') return {};
  return { decideBy: new Date((Number(order.order.payBy) - decisionMarginSeconds) * 1000) };
}

async function giveBack(deps: DepositDeps, finding: Finding, kind: ExceptionKind): Promise<void> {
  const { chain, order, token, amount } = finding;
  if (!(await tell(deps, finding, { kind }))) return;
  if (microUsdOf(token, amount) < deps.settings.minAmount) return;
  await sendBack(deps, chain, order, token.address);
}

/**
 * Tells the merchant, once for each kind, order and token. False, and nothing is told, when the session has moved since it
 * was read: the next look decides anew.
 */
async function tell(
  deps: DepositDeps,
  { session, order, token, amount }: Finding,
  said: { kind: ExceptionKind; decision?: 'accept'; decideBy?: Date },
): Promise<boolean> {
  return deps.db.transaction(async (transaction) => {
    const locked = await lockSession(transaction, session.sessionId);
    if (locked === undefined) throw new Error(`the session ${session.sessionId} has vanished`);
    const { status, orderId, initiateTx } = session;
    if (locked.status !== status || locked.orderId !== orderId || locked.initiateTx !== initiateTx)
      return false;
    const money = { tokenId: token.tokenId, amount };
    await raise(transaction, deps, { session: locked, order, money, txHash: '', ...said });
    return true;
  });
}
