import type { SubmitPaymentBody } from '@florin/protocol/agent-api.ts';
import type { SubmitMethod, SubmittedView } from '@florin/protocol/agent-view.ts';
import { Refusal } from '@florin/protocol/error.ts';
import type { Hex } from '@florin/protocol/order.ts';
import type { AuthorizationDeps } from '#authorizations/authorization.ts';
import { consentsOf } from '#authorizations/consent.ts';
import { isPaymentSignedBy, type SignatureClaim } from '#authorizations/signature.ts';
import { RpcError, RpcUnavailable } from '#chains/rpc/rpc.ts';
import type { Sender, SendPlan, SentOutcome } from '#chains/sender/sender.ts';
import type { TokenSigning } from '#chains/token-signing.ts';
import type { Queryable, Transaction } from '#db/database.ts';
import type { Clock } from '#outside/clock.ts';
import { assertPayable, findOrders } from '#sessions/order.ts';
import { gatewayOf } from '#sessions/order-gateway.ts';
import { planPayment, type RelayedPayment } from '#sessions/payment-plan.ts';
import { findSession, lockSession } from '#sessions/session.ts';
import type { StoredOrder } from '#sessions/stored-session.ts';
import {
  concludeSubmission,
  insertSubmission,
  lockBudgets,
  openSubmissions,
  recentOrders,
  releaseSubmissions,
  type SubmissionRow,
  spentGas,
  submissionByOrder,
} from './submission.sql.ts';
import { refusalOfRevert, submissionCall } from './submission-call.ts';

/** What the service spends on the payments of others, in units of gas over the last 24 hours. */
export interface GasBudgets {
  readonly perPayer: number;
  /** Of a payment link; of a merchant for sessions that come from none. */
  readonly perLink: number;
  /** Of a client's network: an IPv4 address, or the /64 of an IPv6 address. */
  readonly perNetwork: number;
}

export interface SubmissionDeps extends AuthorizationDeps {
  readonly gasless: NonNullable<AuthorizationDeps['gasless']> & {
    readonly budgets: GasBudgets;
  };
  readonly sender: Pick<Sender, 'plan' | 'record' | 'broadcast'>;
}

/** A submission that has passed every check, or was taken before. */
export type CheckedSubmission =
  | { readonly kind: 'earlier'; readonly view: SubmittedView }
  | ({ readonly kind: 'new' } & NewSubmission);

/** A payment to be sent at the service's cost. */
export interface NewSubmission {
  readonly order: StoredOrder;
  readonly method: SubmitMethod | 'x402';
  /** Who signed. */
  readonly payer: Hex;
  /** The client's network, by which its budget counts. */
  readonly network: string;
  readonly plan: SendPlan;
}

/** Orders of one session that a signature is compared with. */
const comparedOrders = 20;

/**
 * Finds the order that the signature pays and simulates its payment; writes nothing. Call outside a transaction. Refuses
 * what cannot be paid (1002xx, 100613), a signature over none of the session's orders (100601), a method that the token does
 * not have or that is not worth its gas (100612), and a payer from whom the token would not come (100611).
 */
export async function checkSubmission(
  queryable: Queryable,
  deps: SubmissionDeps,
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
  return { kind: 'new', order, method: body.method, payer, network, plan };
}

/** An order with the nonce that its payer has signed it with. */
interface SignedOrder {
  readonly order: StoredOrder;
  readonly nonce: bigint;
}

async function planOf(
  deps: SubmissionDeps,
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
  if ('reverted' in plan) throw refusalOfRevert(plan.data);
  return plan;
}

/** Asks a chain; refuses with chain_unavailable when it gives no answer. */
export async function asking<T>(chainName: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof RpcUnavailable || error instanceof RpcError)
      throw new Refusal('chain_unavailable', chainName);
    throw error;
  }
}

/** The order of the session that its own payer has signed by this method; 100601 when there is none. */
async function signedOrder(
  queryable: Queryable,
  deps: SubmissionDeps,
  { sessionId, method, signature }: SubmitPaymentBody,
): Promise<SignedOrder> {
  const ids = await queryable.query(recentOrders, [sessionId, comparedOrders]);
  const orders = await findOrders(
    queryable,
    ids.map((row) => row.order_id),
  );
  const candidates: (SignedOrder & { readonly claim: SignatureClaim })[] = [];
  let silence: Refusal | undefined;
  for (const order of orders) {
    const chain = deps.chains.byId(order.chainId);
    const token = deps.chains.token(order.tokenId);
    if (chain === undefined || token === undefined) continue;
    try {
      const signing: TokenSigning = await asking(chain.name, () => deps.gasless.signingOf(token));
      if (!signing.permits.has(method)) continue;
      const place = { gateway: gatewayOf(order, chain), domain: signing.domain };
      for (const { digest, nonce } of consentsOf(method, order, place)) {
        const { payer } = order.order;
        const claim = { chainId: order.chainId, payer, digest, signature: signature.toLowerCase() as Hex };
        candidates.push({ order, nonce, claim });
      }
    } catch (error) {
      // Told when no order of another chain is the one.
      if (!(error instanceof Refusal)) throw error;
      silence = error;
    }
  }
  // What a key has signed needs no chain to be found: anybody may prepare orders for contracts, and to ask those first would
  // use up what the caller may have run of their code.
  const byKey = candidates.filter(
    ({ claim }) => deps.cryptography.recover(claim.digest, claim.signature) === claim.payer.toLowerCase(),
  );
  for (const { order, nonce, claim } of [...byKey, ...candidates.filter((each) => !byKey.includes(each))])
    if (await isPaymentSignedBy(deps, claim)) return { order, nonce };
  if (silence !== undefined) throw silence;
  if (orders.length > 0 && candidates.length === 0) throw new Refusal('method_not_available', method);
  throw new Refusal('signature_invalid', { param: 'signature' });
}

/**
 * Stores the signed transaction of a checked submission, before anything is broadcast. Another submission that is on its
 * way for the same order is answered instead; one for another order of the session is refused (100613), because one of the
 * two would only cost gas.
 */
export async function recordSubmission(
  transaction: Transaction,
  deps: SubmissionDeps,
  submission: NewSubmission,
): Promise<{ readonly view: SubmittedView; readonly transactionId: bigint | undefined }> {
  const { order, method, network, plan } = submission;
  const session = await lockSession(transaction, order.sessionId);
  if (session === undefined) throw new Error(`the session ${order.sessionId} has vanished`);
  const earlier = await findSubmission(transaction, order.orderId);
  if (earlier !== undefined && earlier.status !== 'failed')
    return { view: submittedView(earlier), transactionId: undefined };
  assertPayable(session, deps.clock.now());
  const open = await transaction.query(openSubmissions, [session.sessionId]);
  if (open.length > 0) throw new Refusal('order_already_paid', 'another payment is on its way');
  const payer = submission.payer.toLowerCase();
  const seller = session.businessId === '' ? session.merchantId : session.businessId;
  await assertBudgets(transaction, deps, { payer, seller, network, gas: Number(plan.gasLimit) });
  const { transactionId, txHash } = await deps.sender.record(transaction, plan);
  const { orderId, chainId } = order;
  const paid = [orderId, session.sessionId, chainId, method, payer, seller, network];
  const now = deps.clock.now();
  const rows = await transaction.query(insertSubmission, [...paid, plan.gasLimit, transactionId, now]);
  if (rows.length === 0) throw new Error(`order ${orderId} was submitted twice under one lock`);
  return { view: { sessionId: session.sessionId, txHash, status: 'submitted' }, transactionId };
}

const dayMs = 86_400_000;

async function assertBudgets(
  transaction: Transaction,
  deps: SubmissionDeps,
  asked: { payer: string; seller: string; network: string; gas: number },
): Promise<void> {
  const shared = [`payer ${asked.payer}`, `link ${asked.seller}`, `network ${asked.network}`];
  await transaction.query(lockBudgets, [shared.map((name) => `gas of ${name}`)]);
  const since = new Date(deps.clock.now().getTime() - dayMs);
  const [spent] = await transaction.query(spentGas, [asked.payer, asked.seller, asked.network, since]);
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

/** What was sent for an order; undefined when nothing was. */
export async function findSubmission(
  queryable: Queryable,
  orderId: string,
): Promise<SubmissionRow | undefined> {
  return (await queryable.query(submissionByOrder, [orderId]))[0];
}

function submittedView(row: SubmissionRow): SubmittedView {
  // The schema's check constraint is what makes the narrowing true.
  const status = row.status as 'sent' | 'succeeded' | 'failed';
  return {
    sessionId: row.session_id,
    txHash: row.tx_hash,
    status: status === 'sent' ? 'submitted' : status,
  };
}

/**
 * Lets payers submit again whose payment a wallet has sent before `before` that is followed no more, its key having been
 * changed, and that is not known to be final. The old transaction may be mined yet: an order is paid once, whoever asks.
 * How many there were.
 */
export async function releaseUnfollowed(
  queryable: Queryable,
  { wallets, before, at }: { readonly wallets: readonly Hex[]; readonly before: Date; readonly at: Date },
): Promise<number> {
  const followed = wallets.map((wallet) => wallet.toLowerCase());
  return (await queryable.query(releaseSubmissions, [followed, before, at])).length;
}

/**
 * What became of a submission's transaction, told by the sender in its transaction. One that failed or was superseded moved
 * no money: the payer may submit again.
 */
export async function submissionOutcome(
  transaction: Transaction,
  deps: { readonly clock: Clock },
  outcome: SentOutcome,
): Promise<void> {
  if (outcome.purpose !== 'relay') return;
  const status = outcome.status === 'succeeded' ? 'succeeded' : 'failed';
  await transaction.query(concludeSubmission, [outcome.transactionId, status, deps.clock.now()]);
}
