import { type RevertedPlan, RpcError, type SendPlan, type SentOutcome } from '@florin/evm';
import type { Queryable, Transaction } from '@florin/pg';
import { paymentGatewayAbi } from '@florin/protocol/contract.gen.ts';
import type { Hex } from '@florin/protocol/order.ts';
import type { SessionStatus } from '@florin/protocol/session.ts';
import { encodeErrorResult } from 'viem';
import type { Chain } from '#chains/chain.ts';
import { findDecisions } from '#exceptions/exception.ts';
import { book } from '#ledger/entry.ts';
import { takeGas } from '#merchants/relayed-gas.ts';
import { mostAddedTo } from '#orders/deposit-terms.ts';
import { findOrder, isCollectedOnly } from '#orders/order.ts';
import { gatewayOf } from '#orders/order-gateway.ts';
import { mismatchOf, valueMismatchOf } from '#orders/order-mismatch.ts';
import { planPayment, unsentRefusal } from '#orders/payment-plan.ts';
import { receiverOf, rescueCall } from '#orders/receiver.ts';
import type { StoredOrder } from '#orders/stored-order.ts';
import type { Clock } from '#outside/clock.ts';
import { additionPostings } from '#payments/postings.ts';
import { findLostPayments } from '#sessions/progress.ts';
import { lockSession } from '#sessions/session.ts';
import type { StoredSession } from '#sessions/stored-session.ts';
import type { DepositContext } from './context.ts';
import {
  abandonAdditions,
  addedSince,
  collectionOfAnotherOrder,
  concludeMove,
  insertMove,
  lockAdditions,
  moveOfAnotherOrder,
  moveOfOrder,
  releaseMoves,
  reopenMoves,
} from './deposit.sql.ts';
import { additionCall, collectCall, type DepositBalance, readAgreedBalance } from './deposit-call.ts';
import { aDayAgo, budgetOwnerOf, gasOf, gasVerdict, type RequestedMove } from './deposit-gas.ts';
import { type DepositMoveStatus, depositMoveTransition } from './deposit-move.machine.ts';
import { reportBalance, reportBound, reportMismatch, reportRevert, reportWaiting } from './report.ts';

/** The balance of an order's own token at its deposit address. */
export function ownBalance(chain: Chain, order: StoredOrder): DepositBalance {
  return { token: order.order.token, holder: receiverOf(gatewayOf(order, chain), order.orderId) };
}

/**
 * Collects the money at an order's address, unless its session has left the status of the decision. Orders that can only
 * be collected are signed here: no payer could use their signature before.
 */
export async function collect(
  deps: DepositContext,
  chain: Chain,
  order: StoredOrder,
  decided: MoveDecision,
): Promise<void> {
  if (order.amounts.totalValue < deps.settings.minAmount) return;
  const plan = () => planCollection(deps, chain, order);
  await send(deps, chain, order, { move: 'collect', token: order.order.token, plan, ...decided });
}

/** The state that a move was decided in. */
export interface MoveDecision {
  /** The status of the session. */
  readonly during: SessionStatus;
  /**
   * Notifies the merchant that the deposit is accepted, in the transaction that records its collection: nothing is promised
   * without gas for it. A promised deposit is collected even when the budget is exhausted later.
   */
  readonly promise?: (transaction: Transaction, session: StoredSession) => Promise<void>;
}

async function planCollection(
  deps: DepositContext,
  chain: Chain,
  order: StoredOrder,
): Promise<SendPlan | RevertedPlan> {
  const mismatch = valueMismatchOf(order, chain);
  if (mismatch !== undefined) {
    reportMismatch(deps, order, mismatch);
    return unsentRefusal;
  }
  const signature = isCollectedOnly(order)
    ? await deps.signer.signOrder(chain.chainId, gatewayOf(order, chain), order.order)
    : order.signature;
  const encode = (orderSignature: Hex) => collectCall({ order: order.order, signature: orderSignature });
  return planPayment(deps, chain, { purpose: 'collect', order, signature, encode });
}

/** Sends a token at an order's address back to the order's payer. */
export async function sendBack(
  deps: DepositContext,
  chain: Chain,
  order: StoredOrder,
  token: Hex,
): Promise<void> {
  // Only the gateway matters: nothing leaves through `via`.
  if (mismatchOf(order, chain) === 'gateway') return reportMismatch(deps, order, 'gateway');
  const call = { purpose: 'rescue', to: gatewayOf(order, chain), data: rescueCall(order, token) } as const;
  const plan = () => deps.sender.plan(chain.chainId, call);
  await send(deps, chain, order, { move: 'rescue', token, plan });
}

/**
 * Adds what a deposit lacks from the service's wallet: once, for one order of a session, at most `most` units of the token,
 * and in a day at most what the settings allow. A deposit that is complete by now is collected. True when an addition was
 * made or is on its way.
 */
export async function add(
  deps: DepositContext,
  chain: Chain,
  order: StoredOrder,
  { most, ...decided }: MoveDecision & { readonly most: bigint },
): Promise<boolean> {
  if (order.amounts.totalValue < deps.settings.minAmount) return false;
  // The session's lock decides this later. Checked here too, so that many short deposits of one session ask no chain.
  if (await isAnotherServed(deps.db, order)) return false;
  const balance = ownBalance(chain, order);
  // A wrong answer of one node would be money sent: where nodes differ, the next look decides.
  const latest = await readAgreedBalance(deps.rpcOf(chain.chainId), chain, balance);
  if (latest === undefined) {
    reportBalance(deps, order);
    return false;
  }
  const lacking = order.order.total - latest;
  if (lacking > most) return false;
  if (lacking <= 0n) {
    // Added already, or completed by the payer.
    await collect(deps, chain, order, decided);
    return false;
  }
  if (!(await isOnlyShort(deps, chain, order))) return false;
  // The day's limit too counts what stands in the database. This bound does not.
  const configuredMost = mostAddedTo(deps.settings.deposits, order);
  if (lacking > configuredMost) {
    reportBound(deps, order, { lacking, configuredMost });
    return false;
  }
  const { token, holder } = balance;
  const call = { purpose: 'add', to: token, data: additionCall(holder, lacking) } as const;
  const plan = () => deps.sender.plan(chain.chainId, call);
  const { during } = decided;
  return send(deps, chain, order, { move: 'add', token, plan, amount: lacking, during });
}

/**
 * Whether only the missing tokens prevent the collection of an order, as far as the chain shows it now. An addition that
 * is not collected or not settled would go to the payer in the end.
 */
async function isOnlyShort(deps: DepositContext, chain: Chain, order: StoredOrder): Promise<boolean> {
  const { chainId } = chain;
  const { orderId } = order;
  const { to, token, targetChain } = order.order;
  const plan = await planCollection(deps, chain, order);
  const isShort = 'reverted' in plan && [failedTransfer(token), '0x'].includes(plan.data.toLowerCase());
  // Money for another chain leaves this one in any case.
  const isTaken = targetChain !== BigInt(chainId) || (await isTransferable(deps, chain, order, to));
  if (!isShort || !isTaken) deps.log.info('deposits.not_added', { chainId, orderId, isShort, isTaken });
  return isShort && isTaken;
}

/** The revert of a gateway whose token transfer fails. */
function failedTransfer(token: Hex): string {
  return encodeErrorResult({
    abi: paymentGatewayAbi,
    errorName: 'TransferFailed',
    args: [token],
  }).toLowerCase();
}

/** Whether the order's token allows a transfer of one unit from the order's address to a recipient. */
async function isTransferable(
  deps: DepositContext,
  chain: Chain,
  order: StoredOrder,
  to: Hex,
): Promise<boolean> {
  const { token, holder } = ownBalance(chain, order);
  const call = { from: holder, to: token, data: additionCall(to, 1n) };
  try {
    const answer = await deps.rpcOf(chain.chainId).request('eth_call', [call, 'latest']);
    return answer === '0x' || (typeof answer === 'string' && /^0x0{63}1$/.test(answer));
  } catch (error) {
    // The token refuses: the recipient is blocked.
    if (error instanceof RpcError) return false;
    throw error;
  }
}

interface DepositCall extends Partial<MoveDecision> {
  readonly move: 'collect' | 'rescue' | 'add';
  readonly token: Hex;
  readonly plan: () => Promise<SendPlan | RevertedPlan>;
  /** The amount of an addition, in units of the token. */
  readonly amount?: bigint;
}

/** Sends a move of a deposit, unless the same move is on its way or the chain would refuse it now. */
async function send(
  deps: DepositContext,
  chain: Chain,
  order: StoredOrder,
  call: DepositCall,
): Promise<boolean> {
  const key = { orderId: order.orderId, move: call.move, token: call.token.toLowerCase() };
  if (isDone(call, await deps.db.query(moveOfOrder, key))) return true;
  const { chainId } = chain;
  const plan = await call.plan();
  if ('reverted' in plan) {
    // Paid by now, past its deadline, not rescuable yet, or the wallet holds too little: the next check decides again.
    reportRevert(deps, { ...key, chainId }, plan.data);
    return false;
  }
  const transactionId = await deps.db.transaction(async (transaction) => {
    const session = await lockSession(transaction, order.sessionId);
    if (session === undefined) throw new Error(`the session ${order.sessionId} is missing`);
    if (call.during !== undefined && !(await isUnpaidIn(transaction, session, call.during, order.orderId)))
      return undefined;
    if (call.move === 'add' && !(await mayBeAdded(transaction, deps, order, call.amount ?? 0n)))
      return undefined;
    if (isDone(call, await transaction.query(moveOfOrder, key))) return undefined;
    if (call.move === 'collect' && (await isAnotherCollected(transaction, order))) return undefined;
    const payer = order.order.payer.toLowerCase();
    const cost = {
      ...{ owner: budgetOwnerOf(session), merchantId: session.merchantId, payer, move: call.move },
      gas: gasOf(call.move, plan.gasLimit),
    };
    if (!(await mayCost(transaction, deps, order, cost))) return undefined;
    await call.promise?.(transaction, session);
    const recorded = await deps.sender.record(transaction, plan);
    await transaction.query(insertMove, {
      ...{ ...key, chainId, transactionId: recorded.transactionId, amount: call.amount ?? 0n },
      ...{ createdAt: deps.clock.now(), gasSince: aDayAgo(deps.clock) },
      ...{ seller: cost.owner, payer, gasLimit: cost.gas },
    });
    return recorded.transactionId;
  });
  if (transactionId !== undefined) await deps.sender.broadcast(transactionId);
  return transactionId !== undefined;
}

/** Whether there is nothing to send: the move is on its way, or must not be repeated. */
function isDone({ move }: DepositCall, rows: readonly { readonly status: string }[]): boolean {
  const [row] = rows;
  if (row === undefined) return false;
  // The schema's check constraint guarantees this type.
  const state = { status: row.status as DepositMoveStatus, isAddition: move === 'add' };
  return depositMoveTransition(state, 'repeated') === undefined;
}

/** Whether nothing has paid the session, or a reorg below finality took back its payment by this order. */
async function isUnpaidIn(
  transaction: Transaction,
  session: StoredSession,
  status: SessionStatus,
  orderId: string,
): Promise<boolean> {
  if (session.status !== status) return false;
  if (session.orderId === '') return session.initiateTx === '';
  return session.orderId === orderId && (await findLostPayments(transaction, [orderId])).has(orderId);
}

/**
 * Whether another order of the session has an addition or is being collected. A payer who sent too little for several
 * orders would otherwise get back the additions to all but one.
 */
async function isAnotherServed(
  queryable: Queryable,
  { orderId, sessionId }: Pick<StoredOrder, 'orderId' | 'sessionId'>,
): Promise<boolean> {
  return (await queryable.query(moveOfAnotherOrder, { sessionId, orderId })).length > 0;
}

/** Whether another order of the session is being collected on the same chain. */
async function isAnotherCollected(queryable: Queryable, order: StoredOrder): Promise<boolean> {
  const { sessionId, orderId, chainId } = order;
  return (await queryable.query(collectionOfAnotherOrder, { sessionId, orderId, chainId })).length > 0;
}

/**
 * Whether a move fits into its gas budgets; if so, it counts. Two promised collections need not fit into the owner's budget.
 * After an addition the gas was set aside, and without the collection the addition would go to the payer. An accepted
 * deposit is collected because the merchant relies on it.
 */
async function mayCost(
  transaction: Transaction,
  deps: DepositContext,
  order: StoredOrder,
  { merchantId, ...cost }: RequestedMove & { readonly merchantId: string },
): Promise<boolean> {
  const { move, gas } = cost;
  const isSetAside = move === 'collect' && (await isAddedTo(transaction, order));
  if (move === 'rescue' || (!isSetAside && !(await isAccepted(transaction, order)))) {
    const verdict = await gasVerdict(transaction, { ...deps, budgets: deps.settings.depositBudgets }, cost);
    if (verdict !== 'within') {
      reportWaiting(deps, verdict, cost, order);
      return false;
    }
  }
  // Promises do not exceed the totals: a merchant can make any number of promises and deposits.
  const kind = move === 'rescue' ? 'returns' : 'payments';
  const asked = { merchantId, chainId: order.chainId, kind, gas, isOwed: isSetAside } as const;
  return (await takeGas(transaction, { ...deps, totals: deps.settings.totals }, asked)) === 'within';
}

/** Whether an addition to the order was made or is on its way. */
async function isAddedTo(queryable: Queryable, { orderId, order }: StoredOrder): Promise<boolean> {
  const [added] = await queryable.query(moveOfOrder, {
    orderId,
    move: 'add',
    token: order.token.toLowerCase(),
  });
  return added !== undefined && added.status !== 'failed';
}

async function isAccepted(queryable: Queryable, { orderId }: StoredOrder): Promise<boolean> {
  return (await findDecisions(queryable, [orderId])).get(orderId)?.decision === 'accept';
}

/** Whether an addition stays within its limits. The session's lock lets only one of its orders have an addition. */
async function mayBeAdded(
  transaction: Transaction,
  deps: DepositContext,
  { orderId, sessionId, chainId, order, amounts }: StoredOrder,
  amount: bigint,
): Promise<boolean> {
  if (await isAnotherServed(transaction, { orderId, sessionId })) return false;
  await transaction.query(lockAdditions);
  const [sum] = await transaction.query(addedSince, { since: aDayAgo(deps.clock) });
  const value = (amount * amounts.totalValue + order.total - 1n) / order.total;
  const added = (sum?.added ?? 0n) + value;
  if (added <= (deps.settings.deposits?.addedPerDay ?? 0n)) return true;
  deps.log.warn('deposits.additions_exhausted', { chainId, orderId, added: added.toString() });
  return false;
}

/**
 * Releases moves of wallets whose key was replaced, so that their transactions are no longer followed. Collections and
 * returns that are not mined since `before` are decided again; returns their number. Their additions are never repeated and
 * no longer waited for.
 */
export async function releaseUnfollowedMoves(
  queryable: Queryable,
  { wallets, before, at }: { readonly wallets: readonly Hex[]; readonly before: Date; readonly at: Date },
): Promise<number> {
  const followed = wallets.map((wallet) => wallet.toLowerCase());
  await queryable.query(abandonAdditions, { wallets: followed, updatedAt: before });
  return (await queryable.query(releaseMoves, { wallets: followed, updatedBefore: before, updatedAt: at }))
    .length;
}

/**
 * Handles the outcome of a move's transaction, in the sender's transaction. After a failure the next check decides again.
 * An addition is booked as the operator's expense.
 */
export async function depositOutcome(
  transaction: Transaction,
  deps: { readonly clock: Clock },
  outcome: SentOutcome,
): Promise<void> {
  const { purpose, txHash, blockTime } = outcome;
  if (purpose !== 'collect' && purpose !== 'rescue' && purpose !== 'add') return;
  const trigger = outcome.status === 'succeeded' ? 'transaction_succeeded' : 'transaction_failed';
  const status = depositMoveTransition({ status: 'sent', isAddition: purpose === 'add' }, trigger)?.to;
  if (status === undefined) throw new Error(`a pending move refuses ${trigger}`);
  const now = deps.clock.now();
  const [move] = await transaction.query(concludeMove, {
    transactionId: outcome.transactionId,
    status,
    updatedAt: now,
  });
  if (purpose !== 'add' || status !== 'succeeded' || move === undefined) return;
  const order = await findOrder(transaction, move.order_id);
  if (order === undefined) throw new Error(`something was added to the unknown order ${move.order_id}`);
  const { orderId, chainId } = order;
  const postings = additionPostings(order, move.amount);
  await book(transaction, { kind: 'tolerance', orderId, chainId, txHash, at: blockTime ?? now, postings });
}

/** Collections and returns wait for an outcome again when the final blocks with their transactions are reverted. */
export async function movesUndone(
  transaction: Transaction,
  transactionIds: readonly bigint[],
  at: Date,
): Promise<void> {
  await transaction.query(reopenMoves, { transactionIds, updatedAt: at });
}
