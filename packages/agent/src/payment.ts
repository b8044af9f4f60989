import type { PayerAccount } from './account.ts';
import type { ChainClient } from './chain.ts';
import { AgentError } from './error.ts';
import { type Hex, member } from './json.ts';
import { isOver, type Outside, pause } from './outside.ts';
import { assertDecimals, assertMerchant, type Offer, type Policy, permittedOffers } from './policy.ts';
import { type Agreement, type PayingSignature, type Prepared, parsePrepared } from './prepared.ts';
import type { OpenRecord } from './record.ts';
import { refusalOf, type ServiceClient } from './service.ts';
import {
  type SendOptions,
  sendAgain,
  sendCall,
  signed,
  waitForPending,
  waitForReceipt,
} from './transaction.ts';
import { agentTypedData, preparationTypes } from './typed-data.ts';
import { parseSessionView, type SessionView } from './view.ts';

/** The state that a payment waits for. */
export type WaitFor = 'seen' | 'paid' | 'settled';

/** An event before or after a step. */
export type Step =
  | 'found'
  | 'creating'
  | 'created'
  | 'preparing'
  | 'prepared'
  | 'approving'
  | 'approved'
  | 'submitting'
  | 'submitted'
  | 'sending'
  | 'signed'
  | 'sent'
  | 'done';

/** A completed payment. */
export interface PaymentResult {
  readonly sessionId: string;
  /** The stage of the session's workflow. */
  readonly stage: string;
  readonly txHash: string;
  /** Empty until the settlement is final. */
  readonly settlementTxHash: string;
  /** True when an earlier call, or another client, had begun it. */
  readonly isRepeat: boolean;
}

/** The state of one call. */
export interface PaymentRun {
  readonly outside: Outside;
  readonly service: ServiceClient;
  readonly account: PayerAccount;
  readonly policy: Policy;
  readonly record: OpenRecord;
  readonly maxAmount: bigint;
  readonly chainOf: (chainId: number) => Promise<ChainClient | undefined>;
  readonly step: (step: Step) => void;
  readonly payerEmail?: string;
  readonly method?: 'signature' | 'transaction';
  readonly waitFor?: WaitFor;
}

interface OpenPayment {
  readonly sessionId: string;
  /** Undefined for a session that another client began: its view makes the offers. */
  readonly offer: Offer | undefined;
  readonly isRepeat: boolean;
}

const reached: Readonly<Record<WaitFor, ReadonlySet<string>>> = {
  settled: new Set(['settled']),
  paid: new Set(['payment_succeeded', 'settling', 'settlement_pending', 'settled']),
  seen: new Set(['payment_detected', 'payment_succeeded', 'settling', 'settlement_pending', 'settled']),
};

/** The pause where the service names none, in seconds. */
const defaultPauseSeconds = 2;

/** Follows the next actions in the session's view, until the awaited state. */
export async function followSession(run: PaymentRun, payment: OpenPayment): Promise<PaymentResult> {
  const { outside, service, waitFor = 'paid' } = run;
  let progress: Progress | undefined;
  for (;;) {
    const view = parseSessionView(await service.get(`/session/${payment.sessionId}`));
    if (view.sessionId !== payment.sessionId)
      throw new AgentError('answer_refused', 'the service returned another session');
    if (reached[waitFor].has(view.stage)) {
      run.step('done');
      const { sessionId, stage, txHash, settlementTxHash } = view;
      return {
        sessionId,
        stage,
        txHash,
        settlementTxHash,
        isRepeat: payment.isRepeat || progress === undefined,
      };
    }
    assertOpen(view);
    if (view.action !== 'poll_session') {
      if (progress === undefined) progress = await execute(run, payment, view);
      else await progress();
    }
    if (isOver(outside))
      throw new AgentError(
        'payment_pending',
        `the session ${view.sessionId} is at ${view.stage} after all this time`,
      );
    await pause(outside, (view.retryAfterSeconds ?? defaultPauseSeconds) * 1_000);
  }
}

function assertOpen({ stage, action }: SessionView): void {
  if (stage === 'session_cancelled') throw new AgentError('session_cancelled', 'the session is cancelled');
  if (stage === 'session_expired') throw new AgentError('session_expired', 'the session has expired unpaid');
  if (!['poll_session', 'prepare_payment', 'execute_payment_client_side'].includes(action))
    throw new AgentError('answer_refused', `the session asks for ${action}`);
}

/** Checks the state of a sent payment; refuses a failed one. */
type Progress = () => Promise<void>;

const nothingToDo: Progress = async () => {};

/** Already paid or seen, as the session's view will show. */
const paidCodes: ReadonlySet<number> = new Set([100_204, 100_613]);
/** The service does not send this payment, but the payer can. */
const notSentCodes: ReadonlySet<number> = new Set([100_611, 100_612]);

async function execute(run: PaymentRun, payment: OpenPayment, view: SessionView): Promise<Progress> {
  const { account, policy, outside } = run;
  assertMerchant(policy, view.merchantId);
  const [offer] =
    payment.offer === undefined ? permittedOffers(policy, view.offers, run.maxAmount) : [payment.offer];
  // The answer to the creation of a session states none.
  for (const { chainId, token, statedDecimals } of view.offers)
    if (chainId === offer.chainId && token === offer.token) assertDecimals(offer, statedDecimals);
  if (view.isEmailRequired && (run.payerEmail ?? '') === '')
    throw new AgentError('email_required', 'the merchant asks for the payer’s e-mail address');
  const chain = await run.chainOf(offer.chainId);
  // A transaction of an earlier call may be pending: the missing approvals are known only after it.
  if (chain !== undefined) {
    const { sent } = run.record.value;
    if (sent?.raw !== undefined && (await chain.transactionCount(account.address, 'latest')) <= sent.nonce)
      await sendAgain(chain, sent.raw);
    await waitForPending({ outside, chain, account });
  }
  const payer: Hex = `0x${account.address.slice(2).toLowerCase()}`;
  const prepared = await prepare(run, view, { sessionId: view.sessionId, payer, offer });
  if (prepared === undefined) return nothingToDo;
  if (chain !== undefined && (await isPaidOnChain(chain, prepared))) return nothingToDo;
  await assertCovered(chain, offer, account.address);
  if (run.method !== 'transaction') {
    for (const consent of prepared.consents) {
      const progress = await submit(run, view.sessionId, { ...consent, orderId: prepared.orderId });
      if (progress !== undefined) return progress;
    }
  }
  if (chain === undefined)
    throw new AgentError(
      'node_needed',
      `rpcUrls names no node of chain ${offer.chainId}, and no signature alone pays`,
    );
  return sendPayment(run, chain, prepared);
}

async function assertCovered(chain: ChainClient | undefined, offer: Offer, holder: Hex): Promise<void> {
  if (chain === undefined) return;
  const balance = await chain.balanceOf(offer.token, holder);
  if (balance < offer.amount)
    throw new AgentError(
      'balance_short',
      `the account holds ${balance} of ${offer.token}, and pays ${offer.amount}`,
    );
}

/** The order to pay; undefined when the session is already paid. */
async function prepare(
  run: PaymentRun,
  view: SessionView,
  agreement: Agreement,
): Promise<Prepared | undefined> {
  const { service, account, record, step } = run;
  const { signing } = view;
  if (signing === undefined) throw new AgentError('answer_refused', 'the session has nothing to sign');
  const message = {
    purpose: 'prepare_payment',
    sessionId: view.sessionId,
    merchantId: view.merchantId,
    payer: account.address,
    payerEmail: run.payerEmail ?? '',
    paymentChainId: String(agreement.offer.chainId),
    paymentToken: agreement.offer.token,
    // Any nonce works: the same session, payer and token give the same order.
    authorizationNonce: randomNonce(),
    authorizationExpiresAt: String(signing.templateExpiresAt),
  };
  const typedData = agentTypedData(signing.domainName, preparationTypes, message);
  const signature = await signed(() => account.signTypedData(typedData));
  step('preparing');
  const reply = await service.ask('/payment/prepare', { message, signature });
  if (paidCodes.has(reply.code)) return undefined;
  if (reply.code !== 0) throw refusalOf(reply.code, reply.message);
  const prepared = parsePrepared(reply.data, agreement);
  const known = record.value.orderId;
  if (known !== undefined && known !== prepared.orderId)
    throw new AgentError(
      'answer_refused',
      `the account has agreed to the order ${known}, and is asked for another`,
    );
  await record.update({ orderId: prepared.orderId });
  step('prepared');
  return prepared;
}

function randomNonce(): Hex {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return `0x${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

/** Pays by signature; undefined when the service does not send this payment. */
async function submit(
  run: PaymentRun,
  sessionId: string,
  consent: PayingSignature & { readonly orderId: Hex },
): Promise<Progress | undefined> {
  const { service, account, step } = run;
  const { method, isOrderNamed, orderId } = consent;
  const signature = await signed(() => account.signTypedData(consent.typedData));
  const body = { sessionId, method, signature, ...(isOrderNamed ? { orderId } : {}) };
  step('submitting');
  const reply = await service.ask('/payment/submit', body);
  step('submitted');
  if (notSentCodes.has(reply.code)) return undefined;
  if (paidCodes.has(reply.code)) return nothingToDo;
  if (reply.code !== 0) throw refusalOf(reply.code, reply.message);
  return async () => {
    const later = await service.ask('/payment/submit', body);
    // For all other answers, the session's view shows the state of the payment.
    if (member(later.data, 'status') === 'failed')
      throw new AgentError('payment_failed', `the payment of ${sessionId} failed on its chain`);
  };
}

const statusOfSelector = '0xc7df14e2';

/** Whether the order's single-use key is used. */
async function isPaidOnChain(chain: ChainClient, { executor, metaData }: Prepared): Promise<boolean> {
  const answer = await chain.ask('eth_call', [
    { to: executor, data: `${statusOfSelector}${metaData.slice(2)}` },
    'latest',
  ]);
  return typeof answer === 'string' && BigInt(answer.slice(0, 66)) !== 0n;
}

async function sendPayment(run: PaymentRun, chain: ChainClient, prepared: Prepared): Promise<Progress> {
  const { account, outside, record, step } = run;
  const isDone = () => isPaidOnChain(chain, prepared);
  const base = { outside, chain, account };
  for (const approval of prepared.approvals) {
    step('approving');
    const txHash = await sendCall({ ...base, note: async () => {} }, approval, isDone);
    if (txHash === undefined) return nothingToDo;
    await waitForReceipt(base, txHash);
    step('approved');
  }
  step('sending');
  const note: SendOptions['note'] = async (sent) => {
    await record.update({ sent });
    step('signed');
  };
  const txHash = await sendCall({ ...base, note }, prepared.payment, isDone);
  step('sent');
  if (txHash === undefined) return nothingToDo;
  return async () => {
    const receipt = await chain.receiptOf(txHash);
    if (receipt?.isSuccess !== false || (await isDone())) return;
    throw new AgentError('payment_failed', `the transaction ${txHash} failed`);
  };
}
