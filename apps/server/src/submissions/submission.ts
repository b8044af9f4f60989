import type { SendPlan, SentOutcome } from '@florin/evm';
import type { Queryable, Transaction } from '@florin/pg';
import type { SubmitPaymentBody } from '@florin/protocol/agent-api.ts';
import type { SubmitMethod, SubmittedView } from '@florin/protocol/agent-view.ts';
import { Refusal } from '@florin/protocol/error.ts';
import type { Hex } from '@florin/protocol/order.ts';
import { takeGas } from '#merchants/relayed-gas.ts';
import { planPayment, type RelayedPayment } from '#orders/payment-plan.ts';
import type { StoredOrder } from '#orders/stored-order.ts';
import { type Clock, daysBefore } from '#outside/clock.ts';
import { assertPayable } from '#sessions/order-preparation.ts';
import { findSession, lockSession } from '#sessions/session.ts';
import type { SubmissionContext } from './context.ts';
import { asking, type SignedOrder, signedOrder } from './signed-order.ts';
import { assertSmartAccount, isSmartAccount } from './smart-account.ts';
import type { SubmissionStatus } from './submission.machine.ts';
import {
  failSubmission,
  insertSubmission,
  lockBudgets,
  openSubmissions,
  releaseSubmissions,
  reopenSubmissions,
  type SubmissionRow,
  selectSpentGas,
  submissionByOrder,
  succeedSubmission,
} from './submission.sql.ts';
import { refusalOfRevert, submissionCall } from './submission-call.ts';

/** A submission that passed every check, or was accepted before. */
export type CheckedSubmission =
  | { readonly kind: 'earlier'; readonly view: SubmittedView }
  | ({ readonly kind: 'new' } & NewSubmission);

/** A payment that the service sends and pays the gas of. */
export interface NewSubmission {
  readonly order: StoredOrder;
  readonly method: SubmitMethod | 'x402';
  /** The signer. */
  readonly payer: Hex;
  /** Whether the payer's address has code; see `isSmartAccount`. */
  readonly isSmartAccount: boolean;
  /** The client's network, to which its budget belongs. */
  readonly network: string;
  readonly plan: SendPlan;
}

/**
 * Finds the order that the signature pays and simulates its payment; writes nothing. Call outside a transaction.
 * Refuses what cannot be paid (1002xx, 100613), a signature over no order of the session or not over the named one
 * (100601), a method that the token lacks or that is not worth its gas (100612), and a payer whose tokens cannot be
 * taken (100611).
 */
export async function checkSubmission(
  queryable: Queryable,
  deps: SubmissionContext,
  request: { readonly body: SubmitPaymentBody; readonly network: string },
): Promise<CheckedSubmission> {
  const { body, network } = request;
  const session = await findSession(queryable, body.sessionId);
  if (session === undefined) throw new Refusal('session_not_found', body.sessionId);
  const { order, nonce } = await signedOrder(queryable, deps, body);
  const earlier = await findSubmission(queryable, order.orderId);
  if (earlier !== undefined && earlier.status !== 'failed')
    return { kind: 'earlier', view: submittedView(earlier) };
  assertPayable(session, deps.clock.now());
  if (order.amounts.totalValue < deps.gasless.minAmount)
    throw new Refusal('method_not_available', 'the amount is too small to be sent at our cost');
  const { payer } = order.order;
  const plan = await planOf(deps, { order, nonce }, body);
  const isSmart = await isSmartAccount(deps, payer, plan);
  return { kind: 'new', order, method: body.method, payer, isSmartAccount: isSmart, network, plan };
}

async function planOf(
  deps: SubmissionContext,
  { order, nonce }: SignedOrder,
  { method, signature }: SubmitPaymentBody,
): Promise<SendPlan> {
  const chain = deps.chains.byId(order.chainId);
  if (chain === undefined) throw new Refusal('payment_token_unsupported', order.tokenId);
  const consent = { method, signature: signature as Hex, nonce };
  const payment: RelayedPayment = {
    ...{ purpose: 'relay', order, signature: order.signature },
    encode: (orderSignature) => submissionCall({ ...order, signature: orderSignature }, consent),
  };
  const plan = await asking(chain.name, () => planPayment(deps, chain, payment));
  if ('reverted' in plan) {
    if (plan.isWithheld === true)
      throw new Refusal('method_not_available', 'our gas is kept for settlements: send the transaction');
    throw refusalOfRevert(plan.data);
  }
  return plan;
}

/**
 * Stores the signed transaction of a checked submission before it is broadcast. Returns another submission that is
 * under way for the same order. Refuses (100613) when one is under way for another order of the session: one of the two
 * would only cost gas.
 */
export async function recordSubmission(
  transaction: Transaction,
  deps: SubmissionContext,
  submission: NewSubmission,
): Promise<{ readonly view: SubmittedView; readonly transactionId: bigint | undefined }> {
  const { order, method, network, plan, isSmartAccount: isSmart } = submission;
  const session = await lockSession(transaction, order.sessionId);
  if (session === undefined) throw new Error(`the session ${order.sessionId} is missing`);
  const earlier = await findSubmission(transaction, order.orderId);
  if (earlier !== undefined && earlier.status !== 'failed')
    return { view: submittedView(earlier), transactionId: undefined };
  assertPayable(session, deps.clock.now());
  const open = await transaction.query(openSubmissions, { sessionId: session.sessionId });
  if (open.length > 0) throw new Refusal('order_already_paid', 'another payment is on its way');
  const payer = submission.payer.toLowerCase();
  const { merchantId } = session;
  const seller = session.businessId === '' ? merchantId : session.businessId;
  await assertBudgets(transaction, deps, { payer, seller, network, gas: Number(plan.gasLimit) });
  await assertTotals(transaction, deps, merchantId, plan, 'payments');
  if (isSmart) {
    await assertSmartAccount(transaction, deps, { payer, merchantId, gasLimit: plan.gasLimit });
    await assertTotals(transaction, deps, merchantId, plan, 'smart_accounts');
  }
  const { transactionId, txHash } = await deps.sender.record(transaction, plan);
  const { orderId, chainId } = order;
  const now = deps.clock.now();
  const rows = await transaction.query(insertSubmission, {
    orderId,
    sessionId: session.sessionId,
    chainId,
    method,
    payer,
    seller,
    network,
    gasLimit: plan.gasLimit,
    transactionId,
    createdAt: now,
    gasSince: daysBefore(now, 1),
    isSmartAccount: isSmart,
  });
  if (rows.length === 0) throw new Error(`order ${orderId} was submitted twice under one lock`);
  return { view: { sessionId: session.sessionId, txHash, status: 'submitted' }, transactionId };
}

async function assertBudgets(
  transaction: Transaction,
  deps: SubmissionContext,
  asked: { payer: string; seller: string; network: string; gas: number },
): Promise<void> {
  const shared = [`payer ${asked.payer}`, `link ${asked.seller}`, `network ${asked.network}`];
  await transaction.query(lockBudgets, { keys: shared });
  const since = daysBefore(deps.clock.now(), 1);
  const [spent] = await transaction.query(selectSpentGas, {
    payer: asked.payer,
    seller: asked.seller,
    network: asked.network,
    since,
  });
  if (spent === undefined) throw new Error('sums came back without a row');
  const { perPayer, perLink, perNetwork } = deps.gasless.budgets;
  const limits = [
    ['payer', spent.payer, perPayer],
    ['link', spent.seller, perLink],
    ['network', spent.network, perNetwork],
  ] as const;
  for (const [name, gas, budget] of limits) {
    if (Number(gas) + asked.gas > budget)
      throw new Refusal(
        'method_not_available',
        `today's gas for this ${name} is used up: send the transaction`,
      );
  }
}

/** Limits all payers of a merchant together, because links, payers and networks cost an attacker nothing. */
async function assertTotals(
  transaction: Transaction,
  { clock, gasless }: SubmissionContext,
  merchantId: string,
  { chainId, gasLimit: gas }: SendPlan,
  kind: 'payments' | 'smart_accounts',
): Promise<void> {
  const asked = { merchantId, chainId, kind, gas };
  const verdict = await takeGas(transaction, { clock, totals: gasless.totals }, asked);
  if (verdict === 'within') return;
  const whose = verdict === 'merchant_used_up' ? 'for this merchant' : 'on this chain';
  const what = kind === 'smart_accounts' ? 'gas for smart accounts' : 'gas';
  throw new Refusal('method_not_available', `today's ${what} ${whose} is used up: send the transaction`);
}

/** The submission of an order; undefined when there is none. */
export async function findSubmission(
  queryable: Queryable,
  orderId: string,
): Promise<SubmissionRow | undefined> {
  return (await queryable.query(submissionByOrder, { orderId }))[0];
}

function submittedView(row: SubmissionRow): SubmittedView {
  // The schema's check constraint is what makes the narrowing true.
  const status = row.status as SubmissionStatus;
  return {
    sessionId: row.session_id,
    txHash: row.tx_hash,
    status: status === 'sent' ? 'submitted' : status,
  };
}

/**
 * Lets payers submit again when a wallet that is no longer configured sent their payment before `before`, and it is not
 * known to be final. The old transaction may still be mined, and an order is paid once in any case. Returns how many
 * there were.
 */
export async function releaseUnfollowed(
  queryable: Queryable,
  { wallets, before, at }: { readonly wallets: readonly Hex[]; readonly before: Date; readonly at: Date },
): Promise<number> {
  const followed = wallets.map((wallet) => wallet.toLowerCase());
  return (await queryable.query(releaseSubmissions, { wallets: followed, sentBefore: before, updatedAt: at }))
    .length;
}

/**
 * Records the outcome of a submission's transaction, in the sender's transaction. A failed or superseded one moved no
 * money: the payer may submit again.
 */
export async function submissionOutcome(
  transaction: Transaction,
  deps: { readonly clock: Clock },
  outcome: SentOutcome,
): Promise<void> {
  if (outcome.purpose !== 'relay') return;
  const conclude = outcome.status === 'succeeded' ? succeedSubmission : failSubmission;
  const { transactionId } = outcome;
  await transaction.query(conclude, { transactionId, updatedAt: deps.clock.now() });
}

/** Submissions wait for the outcome of their transactions again: the blocks that showed it were reorged. */
export async function submissionsUndone(
  transaction: Transaction,
  transactionIds: readonly bigint[],
  at: Date,
): Promise<void> {
  await transaction.query(reopenSubmissions, { transactionIds, updatedAt: at });
}
