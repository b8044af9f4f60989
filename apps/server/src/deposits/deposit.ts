import { type ChainCursor, findCursor, RpcError, RpcUnavailable } from '@florin/evm';
import type { ExceptionKind } from '@florin/protocol/exception.ts';
import type { Token } from '@florin/protocol/token.ts';
import type { Chain } from '#chains/chain.ts';
import { microUsdOf, minReportedAmount, raiseDeposit } from '#exceptions/deposit-exception.ts';
import { findDecisions } from '#exceptions/exception.ts';
import { type DepositTerms, findDepositTerms } from '#orders/deposit-terms.ts';
import { findOrders } from '#orders/order.ts';
import { gatewayOf } from '#orders/order-gateway.ts';
import { receiverOf } from '#orders/receiver.ts';
import type { StoredOrder } from '#orders/stored-order.ts';
import { unixSeconds } from '#outside/clock.ts';
import { findLostPayments } from '#sessions/progress.ts';
import { findSessionStates, lockSession } from '#sessions/session.ts';
import type { SessionState } from '#sessions/stored-session.ts';
import { runRounds } from '#telemetry/rounds.ts';
import type { DepositContext } from './context.ts';
import { type DepositState, decisionEnd, verdictOf } from './deposit.machine.ts';
import { ordersToCheck } from './deposit.sql.ts';
import { readDepositBalances } from './deposit-call.ts';
import { add, collect, type MoveDecision, sendBack } from './deposit-move.ts';
import { ordersWithTransfer, removeSightings, showFinalAmounts } from './deposit-search.sql.ts';
import { checkedAfterSeconds, fullRate, searchBlocks } from './deposit-search.ts';
import { checkDoubted } from './lost-deposit.ts';
import { checkBudgets } from './report.ts';

/** How many orders of each list one round reads. */
const balanceBatches = { sighted: 100, open: 50, closed: 50 } as const;
/** Between two checks whether gas budgets have room again. */
const budgetIntervalMs = 60_000;

/** Watches deposit addresses until the signal aborts: collects what pays an order, and sends back what does not. */
export async function runDeposits(deps: DepositContext, signal: AbortSignal): Promise<void> {
  const { depositWindowMs, balanceWindowMs, depositBudgets } = deps.settings;
  const repeat = (intervalMs: number, round: () => Promise<void>) =>
    runRounds({ ...deps, intervalMs, failure: 'deposits.round_failed' }, signal, () =>
      unlessNodesFail(deps, signal, round),
    );
  const loops = deps.chains.all.flatMap((chain) => {
    const rate = fullRate();
    const positions = initialPositions();
    return [
      repeat(depositWindowMs, () => searchBlocks(deps, chain, rate)),
      repeat(balanceWindowMs, async () => {
        await checkDoubted(deps, chain);
        await checkBalances(deps, chain, positions);
      }),
    ];
  });
  if (depositBudgets !== undefined)
    loops.push(repeat(budgetIntervalMs, () => checkBudgets(deps, depositBudgets)));
  await Promise.all(loops);
}

/** Runs a round, and logs that the nodes do not answer: money at an address is still there in the next round. */
async function unlessNodesFail(
  { log, clock }: DepositContext,
  signal: AbortSignal,
  round: () => Promise<void>,
): Promise<void> {
  try {
    await round();
  } catch (error) {
    if (!(error instanceof RpcUnavailable || error instanceof RpcError)) throw error;
    log.warn('deposits.rpc_failed', { reason: error.message });
    await clock.sleep(1_000, signal);
  }
}

interface Position {
  readonly payBy: bigint;
  readonly orderId: string;
}

/** The position in each list of orders: those that got a transfer, those that are open, and those that are closed. */
type Positions = Record<keyof typeof balanceBatches, Position>;

export function initialPositions(): Positions {
  const first = { payBy: 0n, orderId: '' };
  return { sighted: first, open: first, closed: first };
}

/**
 * Reads the final balances of some addresses in all configured tokens, and continues from there the next time. First come
 * addresses that got a transfer: they may hold too little, too much, another token, or late money. The others are a safety
 * net for transfers that nodes left out; open orders do not wait for closed ones.
 */
export async function checkBalances(deps: DepositContext, chain: Chain, positions: Positions): Promise<void> {
  const now = unixSeconds(deps.clock.now());
  const since = now - checkedAfterSeconds;
  const sighted = await ordersOf(positions, 'sighted', (place, limit) =>
    deps.db.query(ordersWithTransfer, { chainId: chain.chainId, fromPayBy: since, ...place, limit }),
  );
  const open = await ordersOf(positions, 'open', (place, limit) =>
    deps.db.query(ordersToCheck, {
      chainId: chain.chainId,
      fromPayBy: now,
      untilPayBy: endOfTime,
      ...place,
      limit,
    }),
  );
  const closed = await ordersOf(positions, 'closed', (place, limit) =>
    deps.db.query(ordersToCheck, {
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
  // Read before the cursor: a payment that a session shows is then below the final block, and the balance is the rest.
  const sessions = await findSessionStates(deps.db, [...new Set(orders.map(({ sessionId }) => sessionId))]);
  const lost = await findLostPayments(deps.db, orderIds);
  const cursor = await findCursor(deps.db, chain.chainId);
  if (cursor === undefined || cursor.haltedReason !== '') return;
  const found = await readFindings(deps, chain, cursor, orders);
  const foundIds = [...new Set<string>(found.map(({ order }) => order.orderId))];
  const empty = sighted.filter((orderId) => !foundIds.includes(orderId));
  if (sighted.length > 0)
    await deps.db.query(removeSightings, {
      chainId: chain.chainId,
      orderIds: empty,
      blockNumber: cursor.finalNumber,
      payBy: since,
    });
  if (found.length === 0) return;
  const own = found.filter(({ order, token }) => token.tokenId === order.tokenId);
  await deps.db.query(showFinalAmounts, {
    orderIds: own.map(({ order }) => order.orderId),
    amounts: own.map(({ amount }) => amount),
    blockNumber: cursor.finalNumber,
  });
  const [terms, decisions] = await Promise.all([
    findDepositTerms(deps.db, foundIds),
    findDecisions(deps.db, foundIds),
  ]);
  for (const finding of found) {
    const session = sessions.get(finding.order.sessionId);
    const { orderId } = finding.order;
    const isPaymentLost = lost.has(orderId);
    const known = { terms: terms.get(orderId), decided: decisions.get(orderId), isPaymentLost };
    if (session !== undefined) await actOn(deps, { chain, cursor, session, ...finding }, known);
  }
}

/** Later than any deadline. */
const endOfTime = 2n ** 62n;

/** The next orders of a list, which begins again after its end. */
async function ordersOf(
  positions: Positions,
  list: keyof Positions,
  read: (
    place: { readonly afterPayBy: bigint; readonly afterOrderId: string },
    limit: number,
  ) => Promise<{ order_id: string; pay_by: bigint }[]>,
): Promise<string[]> {
  const { payBy, orderId } = positions[list];
  const rows = await read({ afterPayBy: payBy, afterOrderId: orderId }, balanceBatches[list]);
  const last = rows.at(-1);
  const isEnd = last === undefined || rows.length < balanceBatches[list];
  positions[list] = isEnd ? { payBy: 0n, orderId: '' } : { payBy: last.pay_by, orderId: last.order_id };
  return rows.map((row) => row.order_id);
}

/** The amounts at the addresses of some orders, at the final block, that are worth a report. */
async function readFindings(
  deps: DepositContext,
  chain: Chain,
  cursor: ChainCursor,
  orders: readonly StoredOrder[],
): Promise<Pick<Finding, 'order' | 'token' | 'amount'>[]> {
  const balances = orders.flatMap((order) => {
    const holder = receiverOf(gatewayOf(order, chain), order.orderId);
    return chain.tokens.map((token) => ({ order, token, balance: { token: token.address, holder } }));
  });
  const amounts = await readDepositBalances(
    deps.rpcOf(chain.chainId),
    balances.map(({ balance }) => balance),
    cursor.finalNumber,
  );
  return balances.flatMap(({ order, token }, index) => {
    const amount = amounts[index] ?? 0n;
    return microUsdOf(token, amount) < minReportedAmount ? [] : [{ order, token, amount }];
  });
}

interface Finding {
  readonly chain: Chain;
  readonly cursor: ChainCursor;
  readonly session: SessionState;
  readonly order: StoredOrder;
  readonly token: Token;
  /** The amount at the final block, in units of the token. */
  readonly amount: bigint;
}

type Decided = ReturnType<Awaited<ReturnType<typeof findDecisions>>['get']>;

/** The terms of an address, the merchant's decision since, and whether a reorg took back the order's final payment. */
interface Known {
  readonly isPaymentLost: boolean;
  readonly terms: DepositTerms | undefined;
  readonly decided: Decided;
}

async function actOn(deps: DepositContext, finding: Finding, known: Known): Promise<void> {
  const { chain, order, token } = finding;
  if (token.tokenId !== order.tokenId) return giveBack(deps, finding, 'wrong_token');
  const { terms, decided } = known;
  const verdict = verdictOf(stateOf(finding, known));
  switch (verdict.move) {
    case 'none':
    case 'wait':
      return;
    case 'collect':
      return collect(deps, chain, order, decisionFor(deps, finding));
    case 'add':
      if (await add(deps, chain, order, { most: addedAtMost(terms, decided), ...decisionFor(deps, finding) }))
        await report(deps, finding, { kind: 'underpaid', decision: 'accept' });
      return;
    case 'hold':
      await report(deps, finding, { kind: verdict.kind, ...decisionEndOf(finding, terms) });
      return;
    case 'return':
      return giveBack(deps, finding, verdict.kind);
  }
}

function stateOf(
  { cursor, session, order, amount }: Finding,
  { terms, decided, isPaymentLost }: Known,
): DepositState {
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
    isPaymentLost,
    isPaymentSeen: session.initiateTx !== '',
    isExpired: session.status === 'expired',
    isLateAccepted: (decided?.decision ?? terms?.latePayment) === 'accept',
    isPromised: decided?.decision === 'accept',
  };
}

/** The largest addition. For an accepted short deposit it may be above the link's own tolerance. */
function addedAtMost(terms: DepositTerms | undefined, decided: Decided): bigint {
  const isShortAccepted = decided?.kind === 'underpaid' && decided.decision === 'accept';
  return (isShortAccepted ? terms?.mostAdded : terms?.tolerance) ?? 0n;
}

/** Money after the end is accepted when it is collected: the merchant is notified with the collection, and not before. */
function decisionFor(deps: DepositContext, { cursor, session, order, token, amount }: Finding): MoveDecision {
  const during = session.status;
  if (during !== 'expired') return { during };
  const seen = { order, token, amount, finalBlock: cursor.finalNumber };
  const accepted = { ...seen, kind: 'late', decision: 'accept' } as const;
  return {
    during,
    async promise(transaction, locked) {
      await raiseDeposit(transaction, deps, { ...accepted, session: locked });
    },
  };
}

/** There is no decision if late money goes back by the terms. */
function decisionEndOf({ order }: Finding, terms: DepositTerms | undefined): { decideBy?: Date } {
  if (terms === undefined || terms.latePayment === 'return') return {};
  return { decideBy: decisionEnd(Number(order.order.payBy)) };
}

async function giveBack(deps: DepositContext, finding: Finding, kind: ExceptionKind): Promise<void> {
  const { chain, order, token, amount } = finding;
  if (!(await report(deps, finding, { kind }))) return;
  if (microUsdOf(token, amount) < deps.settings.minAmount) return;
  await sendBack(deps, chain, order, token.address);
}

/**
 * Reports the deposit to the merchant, each part once. False, and nothing is raised, if the session has changed since
 * it was read: the next round decides again.
 */
async function report(
  deps: DepositContext,
  { cursor, session, order, token, amount }: Finding,
  exception: { kind: ExceptionKind; decision?: 'accept'; decideBy?: Date },
): Promise<boolean> {
  return deps.db.transaction(async (transaction) => {
    const locked = await lockSession(transaction, session.sessionId);
    if (locked === undefined) throw new Error(`the session ${session.sessionId} is missing`);
    const { status, orderId, initiateTx } = session;
    if (locked.status !== status || locked.orderId !== orderId || locked.initiateTx !== initiateTx)
      return false;
    const seen = { session: locked, order, token, amount, finalBlock: cursor.finalNumber };
    await raiseDeposit(transaction, deps, { ...seen, ...exception });
    return true;
  });
}
