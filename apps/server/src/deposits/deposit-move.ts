import { type Rpc, RpcError } from '@florin/evm';
import type { Database, Queryable, Transaction } from '@florin/pg';
import { paymentGatewayAbi } from '@florin/protocol/contract.gen.ts';
import type { MicroUsd } from '@florin/protocol/money.ts';
import type { Hex } from '@florin/protocol/order.ts';
import type { SessionStatus } from '@florin/protocol/session.ts';
import { encodeErrorResult } from 'viem';
import type { Chain } from '#chains/chain.ts';
import type { RevertedPlan, Sender, SendPlan, SentOutcome } from '#chains/sender/sender.ts';
import { findDecisions } from '#exceptions/exception.ts';
import { book } from '#ledger/entry.ts';
import { type GasTotals, takeGas } from '#merchants/relayed-gas.ts';
import type { DepositPolicy } from '#orders/context.ts';
import { findOrder, isCollectedOnly } from '#orders/order.ts';
import { gatewayOf } from '#orders/order-gateway.ts';
import { planPayment } from '#orders/payment-plan.ts';
import { receiverOf, rescueCall } from '#orders/receiver.ts';
import type { OrderSigner } from '#orders/signer.ts';
import type { StoredOrder } from '#orders/stored-order.ts';
import type { Clock } from '#outside/clock.ts';
import { additionPostings } from '#payments/postings.ts';
import { lockSession } from '#sessions/session.ts';
import type { StoredSession } from '#sessions/stored-session.ts';
import type { Log } from '#telemetry/log.ts';
import {
  addedSince,
  collectionBesideOrder,
  concludeMove,
  insertMove,
  leaveAdditions,
  lockAdditions,
  moveBesideOrder,
  moveOfOrder,
  releaseMoves,
  reopenMoves,
} from './deposit.sql.ts';
import { collectCall, type Holding, readBalances, transferCall } from './deposit-call.ts';
import {
  type AskedMove,
  aDayAgo,
  type DepositBudgets,
  gasOf,
  gasVerdict,
  sellerOf,
  type ToldBudgets,
  tellWaiting,
} from './deposit-gas.ts';
import { type DepositMoveStatus, depositMoveTransition } from './deposit-move.machine.ts';

export interface DepositMoveDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly rpcOf: (chainId: number) => Rpc;
  readonly sender: Pick<Sender, 'plan' | 'record' | 'broadcast'>;
  readonly signer: Pick<OrderSigner, 'signOrder' | 'hasSigned'>;
  /** What was told of budgets that are used up; absent: it is told each time. */
  readonly toldBudgets?: ToldBudgets;
  /** `minAmount` is what is worth a transaction of ours, in Micro-USD: less is neither collected nor sent back. */
  readonly settings: {
    readonly minAmount: MicroUsd;
    /** What collections and returns may cost; anything where it is absent. */
    readonly depositBudgets?: DepositBudgets;
    /** Of all that is spent for payers; absent: none. */
    readonly totals?: GasTotals;
    /** Nothing is added where it is absent. */
    readonly deposits?: Pick<DepositPolicy, 'addedPerDay'>;
  };
}

/** Where the payer of an order sends its own token to. */
export function ownHolding(chain: Chain, order: StoredOrder): Holding {
  return { token: order.order.token, holder: receiverOf(gatewayOf(order, chain), order.orderId) };
}

/**
 * Collects what lies at an order's address, unless its session has left the status for which that was decided. Signs orders
 * that are only collected now: nobody else could pay them before.
 */
export async function collect(
  deps: DepositMoveDeps,
  chain: Chain,
  order: StoredOrder,
  decided: DecidedFor,
): Promise<void> {
  if (order.amounts.totalValue < deps.settings.minAmount) return;
  const plan = () => planCollection(deps, chain, order);
  await send(deps, chain, order, { move: 'collect', token: order.order.token, plan, ...decided });
}

/** What a move was decided for. */
export interface DecidedFor {
  /** The status of the session. */
  readonly during: SessionStatus;
  /**
   * Tells the merchant that the deposit is accepted, in the transaction that records its collection: nothing is promised for
   * which there is no gas. Whatever was promised is collected, whatever the budget says by then.
   */
  readonly promise?: (transaction: Transaction, session: StoredSession) => Promise<void>;
}

async function planCollection(
  deps: DepositMoveDeps,
  chain: Chain,
  order: StoredOrder,
): Promise<SendPlan | RevertedPlan> {
  const signature = isCollectedOnly(order)
    ? await deps.signer.signOrder(chain.chainId, gatewayOf(order, chain), order.order)
    : order.signature;
  const encode = (orderSignature: Hex) => collectCall({ order: order.order, signature: orderSignature });
  return planPayment(deps, chain, { purpose: 'collect', order, signature, encode });
}

/** Sends a token that lies at an order's address back to the order's payer. */
export async function sendBack(
  deps: DepositMoveDeps,
  chain: Chain,
  order: StoredOrder,
  token: Hex,
): Promise<void> {
  const call = { purpose: 'rescue', to: gatewayOf(order, chain), data: rescueCall(order, token) } as const;
  const plan = () => deps.sender.plan(chain.chainId, call);
  await send(deps, chain, order, { move: 'rescue', token, plan });
}

/**
 * Adds what a deposit lacks out of the service's wallet, once for an order and for one order of a session; `most` units of
 * the token at the most, and in a day no more than the settings say. What has come since needs nothing added. Whether
 * something has been, or is on its way.
 */
export async function add(
  deps: DepositMoveDeps,
  chain: Chain,
  order: StoredOrder,
  { most, ...decided }: DecidedFor & { readonly most: bigint },
): Promise<boolean> {
  if (order.amounts.totalValue < deps.settings.minAmount) return false;
  // Decided under the session's lock; asked before, so that many short deposits of one session cost no calls to the chain.
  if (await isAnotherServed(deps.db, order)) return false;
  const holding = ownHolding(chain, order);
  const [latest = 0n] = await readBalances(deps.rpcOf(chain.chainId), [holding], 'latest');
  const lacking = order.order.total - latest;
  if (lacking > most) return false;
  if (lacking <= 0n) {
    // Added already, or sent by somebody meanwhile.
    await collect(deps, chain, order, decided);
    return false;
  }
  if (!(await isOnlyShort(deps, chain, order))) return false;
  const { token, holder } = holding;
  const call = { purpose: 'add', to: token, data: transferCall(holder, lacking) } as const;
  const plan = () => deps.sender.plan(chain.chainId, call);
  const { during } = decided;
  return send(deps, chain, order, { move: 'add', token, plan, amount: lacking, during });
}

/**
 * Whether nothing but the lack of tokens stands against the collection of an order, as far as can be told before. An
 * addition that is not collected, or not settled, would go to the payer in the end.
 */
async function isOnlyShort(deps: DepositMoveDeps, chain: Chain, order: StoredOrder): Promise<boolean> {
  const { chainId } = chain;
  const { orderId } = order;
  const { to, token, targetChain } = order.order;
  const plan = await planCollection(deps, chain, order);
  const isShort = 'reverted' in plan && [failedTransfer(token), '0x'].includes(plan.data.toLowerCase());
  // What arrives on another chain has left this one, whoever refuses it there.
  const isTaken = targetChain !== BigInt(chainId) || (await isTransferable(deps, chain, order, to));
  if (!isShort || !isTaken) deps.log.info('deposits.not_added', { chainId, orderId, isShort, isTaken });
  return isShort && isTaken;
}

/** What a gateway reverts with when the token does not move. */
function failedTransfer(token: Hex): string {
  return encodeErrorResult({
    abi: paymentGatewayAbi,
    errorName: 'TransferFailed',
    args: [token],
  }).toLowerCase();
}

/** Whether the order's token lets a unit of it go from the order's address to somebody. */
async function isTransferable(
  deps: DepositMoveDeps,
  chain: Chain,
  order: StoredOrder,
  to: Hex,
): Promise<boolean> {
  const { token, holder } = ownHolding(chain, order);
  const call = { from: holder, to: token, data: transferCall(to, 1n) };
  try {
    const answer = await deps.rpcOf(chain.chainId).request('eth_call', [call, 'latest']);
    return answer === '0x' || (typeof answer === 'string' && /^0x0{63}1$/.test(answer));
  } catch (error) {
    // The token refuses: the recipient is blocked.
    if (error instanceof RpcError) return false;
    throw error;
  }
}

interface DepositCall extends Partial<DecidedFor> {
  readonly move: 'collect' | 'rescue' | 'add';
  readonly token: Hex;
  readonly plan: () => Promise<SendPlan | RevertedPlan>;
  /** Of an addition, in units of the token. */
  readonly amount?: bigint;
}

/** Sends a move of a deposit address unless one like it is on its way, or the chain would refuse it at the moment. */
async function send(
  deps: DepositMoveDeps,
  chain: Chain,
  order: StoredOrder,
  call: DepositCall,
): Promise<boolean> {
  const key = { orderId: order.orderId, move: call.move, token: call.token.toLowerCase() };
  if (isDone(call, await deps.db.query(moveOfOrder, key))) return true;
  const { chainId } = chain;
  const plan = await call.plan();
  if ('reverted' in plan) {
    // Paid meanwhile, not collectable any more, not rescuable yet, or the wallet holds too little to add: the next look
    // decides anew.
    deps.log.info('deposits.would_revert', {
      chainId,
      orderId: order.orderId,
      move: call.move,
      data: plan.data,
    });
    return false;
  }
  const transactionId = await deps.db.transaction(async (transaction) => {
    const session = await lockSession(transaction, order.sessionId);
    if (session === undefined) throw new Error(`the session ${order.sessionId} has vanished`);
    if (call.during !== undefined && !isUnpaidIn(session, call.during)) return undefined;
    if (call.move === 'add' && !(await mayBeAdded(transaction, deps, order, call.amount ?? 0n)))
      return undefined;
    if (isDone(call, await transaction.query(moveOfOrder, key))) return undefined;
    if (call.move === 'collect' && (await isAnotherCollected(transaction, order))) return undefined;
    const payer = order.order.payer.toLowerCase();
    const cost = {
      ...{ seller: sellerOf(session), merchantId: session.merchantId, payer, move: call.move },
      gas: gasOf(call.move, plan.gasLimit),
    };
    if (!(await mayCost(transaction, deps, order, cost))) return undefined;
    await call.promise?.(transaction, session);
    const recorded = await deps.sender.record(transaction, plan);
    await transaction.query(insertMove, {
      ...{ ...key, chainId, transactionId: recorded.transactionId, amount: call.amount ?? 0n },
      ...{ createdAt: deps.clock.now(), gasSince: aDayAgo(deps.clock) },
      ...{ seller: cost.seller, payer, gasLimit: cost.gas },
    });
    return recorded.transactionId;
  });
  if (transactionId !== undefined) await deps.sender.broadcast(transactionId);
  return transactionId !== undefined;
}

/** Whether there is nothing to send: the move is on its way, or may not be repeated. */
function isDone({ move }: DepositCall, rows: readonly { readonly status: string }[]): boolean {
  const [row] = rows;
  if (row === undefined) return false;
  // The schema's check constraint is what makes the narrowing true.
  const state = { status: row.status as DepositMoveStatus, isAddition: move === 'add' };
  return depositMoveTransition(state, 'repeated') === undefined;
}

function isUnpaidIn(session: StoredSession, status: SessionStatus): boolean {
  return session.status === status && session.orderId === '' && session.initiateTx === '';
}

/**
 * Whether another order of the session is added to or being collected: whoever sends too little for several would have the
 * additions to all but one of them back.
 */
async function isAnotherServed(
  queryable: Queryable,
  { orderId, sessionId }: Pick<StoredOrder, 'orderId' | 'sessionId'>,
): Promise<boolean> {
  return (await queryable.query(moveBesideOrder, { sessionId, orderId })).length > 0;
}

/** Whether another order of the session is being collected on the same chain. */
async function isAnotherCollected(queryable: Queryable, order: StoredOrder): Promise<boolean> {
  const { sessionId, orderId, chainId } = order;
  return (await queryable.query(collectionBesideOrder, { sessionId, orderId, chainId })).length > 0;
}

/**
 * Whether a move keeps to its budgets of gas; then it counts. What has been promised does not have to keep to its seller's:
 * the collection of what was added to, whose gas was set aside then and without which the addition would go to the payer, and
 * whatever the merchant was told, or has said, to be accepted.
 */
async function mayCost(
  transaction: Transaction,
  deps: DepositMoveDeps,
  order: StoredOrder,
  { merchantId, ...cost }: AskedMove & { readonly merchantId: string },
): Promise<boolean> {
  const { move, gas } = cost;
  const isSetAside = move === 'collect' && (await isAddedTo(transaction, order));
  if (move === 'rescue' || (!isSetAside && !(await isAccepted(transaction, order)))) {
    const verdict = await gasVerdict(transaction, { ...deps, budgets: deps.settings.depositBudgets }, cost);
    if (verdict !== 'within') {
      tellWaiting(deps, verdict, cost, order);
      return false;
    }
  }
  // No promise goes beyond the totals: merchants make them, and have deposits sent, as often as they like.
  const kind = move === 'rescue' ? 'returns' : 'payments';
  const asked = { merchantId, chainId: order.chainId, kind, gas, isOwed: isSetAside } as const;
  return (await takeGas(transaction, { ...deps, totals: deps.settings.totals }, asked)) === 'within';
}

/** Whether something was, or is being, added to what is collected. */
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

/** Whether an addition stays within its bounds. The session's row is locked, so that of its orders one is added to. */
async function mayBeAdded(
  transaction: Transaction,
  deps: DepositMoveDeps,
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
 * Has collections and returns decided anew that a wallet has sent which is followed no more, its key having been changed,
 * and that are not known to be mined since `before`. How many there were. For its additions nobody waits any more, beyond
 * the time in which they could be collected.
 */
export async function releaseUnfollowedMoves(
  queryable: Queryable,
  { wallets, before, at }: { readonly wallets: readonly Hex[]; readonly before: Date; readonly at: Date },
): Promise<number> {
  const followed = wallets.map((wallet) => wallet.toLowerCase());
  await queryable.query(leaveAdditions, { wallets: followed, updatedAt: before });
  return (await queryable.query(releaseMoves, { wallets: followed, updatedBefore: before, updatedAt: at }))
    .length;
}

/**
 * What became of a move's transaction, told by the sender in its transaction. After a failed one the next look decides. What
 * was added is booked as the operator's expense.
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
  if (status === undefined) throw new Error(`a move that is on its way refuses ${trigger}`);
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

/**
 * Collections and rescues wait for the outcome of their transactions once more: the blocks that had shown it are taken
 * back.
 */
export async function movesUndone(
  transaction: Transaction,
  transactionIds: readonly bigint[],
  at: Date,
): Promise<void> {
  await transaction.query(reopenMoves, { transactionIds, updatedAt: at });
}
