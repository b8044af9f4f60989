import type { PreparedOrder } from '@florin/protocol/checkout-order.ts';
import { api, Refused } from './api.ts';
import { beginSession, chosenOption, readEmail, wantedOrder } from './begin.ts';
import { assertIntended, readBalances } from './connect.ts';
import { assertOwed, bringToNetwork, type PaymentAttempt, request, wordsFor } from './guard.ts';
import { isMade, isOver, isShort } from './model.ts';
import { ExplainedFailure, type Page } from './page.ts';
import { problemOf } from './problem.ts';
import { stopWaiting, waitFor } from './prompt.ts';
import { forgetSent, markSent, soonMs } from './sent.ts';
import { stages } from './stages.ts';
import {
  awaitOutcome,
  canBatch,
  outcomeOf,
  outcomeOfCalls,
  pause,
  send,
  sendCalls,
  signTyped,
  type WalletOutcome,
} from './wallet.ts';

/**
 * Pays with the connected wallet and the chosen token, step by step. Any failed step can be retried. `plainly`: by
 * transactions only, for wallets or payers that do not sign.
 */
export async function payWith(page: Page, way: 'best' | 'plainly'): Promise<void> {
  const { wallet, payer, step } = page.model;
  const { texts } = page.model.data;
  if (wallet === undefined || step !== '') return;
  // The wallet may have got more meanwhile.
  if (isShort(page.model)) return readBalances(page, page.model.chosen);
  try {
    assertIntended(page.model, payer);
    const payerEmail = readEmail(page.model);
    // An allowance that an attempt before this one got is still there.
    const hasAllowed = page.model.hasAllowed || undefined;
    page.change({
      step: texts.stepSession,
      problem: '',
      isOwnChoice: true,
      mayPayPlainly: false,
      stage: stages.pay,
      hasAllowed,
    });
    await beginSession(page);
    const option = chosenOption(page.model);
    // The price may have changed meanwhile. The page then says what is missing.
    if (isShort(page.model)) throw new ExplainedFailure('');
    await assertOwed(page);
    const { tokenId } = option;
    const wanted = wantedOrder(page.model, { payer: payer.toLowerCase(), tokenId, payerEmail });
    const prepare = () => api.prepare(wanted);
    const prepared = await prepare();
    const { deadline, network } = prepared;
    const attempt = { page, provider: wallet.provider, payer, option, network, deadline };
    await carryOut(attempt, prepared, way, prepare);
  } catch (error) {
    tell(page, error);
  }
}

function tell(page: Page, error: unknown): void {
  const { isSent, data } = page.model;
  // The payment was seen meanwhile: then this is not a failure.
  const isFine = !(error instanceof ExplainedFailure) && isOver(data.state);
  page.change({
    ...(isFine ? { problem: '' } : problemOf(page.model, error)),
    ...(isSent ? {} : { step: '' }),
  });
}

/** The wallet's part: approves exactly the amount and pays, with the fewest steps that the wallet supports. */
async function carryOut(
  attempt: PaymentAttempt,
  prepared: PreparedOrder,
  way: 'best' | 'plainly',
  prepare: () => Promise<PreparedOrder>,
): Promise<void> {
  const { page, provider, payer } = attempt;
  const { texts } = page.model.data;
  // Wallets may report their capabilities only on their current network.
  await bringToNetwork(attempt);
  if (way === 'best' && (await payBySignature(attempt, prepared))) return;
  if (prepared.prerequisites.length > 0 && (await payAtOnce(attempt, prepared))) return;
  let hasAllowed = false;
  try {
    for (const { purpose, txRequest } of prepared.prerequisites) {
      const text = purpose === 'reset_allowance' ? texts.stepReset : texts.stepApprove;
      const ask = () => send(provider, payer, txRequest);
      const hash = await request(attempt, {
        kind: 'send',
        text,
        stage: stages.allow,
        ask,
      });
      hasAllowed = purpose !== 'reset_allowance';
      const isSeen = await allowed(attempt, hash ?? '', async () =>
        (await prepare()).prerequisites.every((each) => each.purpose !== purpose),
      );
      page.change({ hasAllowed: hasAllowed && isSeen });
    }
    await payByTransaction(attempt, prepared);
  } catch (error) {
    if (!(error instanceof ExplainedFailure && hasAllowed && isPaid(page))) throw error;
    throw new ExplainedFailure(`${texts.notNeeded} ${wordsFor(attempt, texts.allowanceStays)}`);
  }
}

async function payByTransaction(attempt: PaymentAttempt, { payment }: PreparedOrder): Promise<void> {
  const { page, provider, payer } = attempt;
  const sentAs = (hash: string) => ({ hash, ask: () => outcomeOf(provider, hash) });
  const hash = await request(attempt, {
    kind: 'send',
    text: page.model.data.texts.stepPay,
    stage: stages.pay,
    ask: () => send(provider, payer, payment),
    onLate: (late) => concludeLate(attempt, sentAs(late)),
  });
  if (hash !== undefined) await conclude(attempt, sentAs(hash));
}

const isPaid = ({ model }: Page) => isMade(model.data.state);

/** The whole payment in one prompt (EIP-5792). False: the wallet cannot. */
async function payAtOnce(
  attempt: PaymentAttempt,
  { prerequisites, payment }: PreparedOrder,
): Promise<boolean> {
  const { page, provider, payer, option } = attempt;
  if (!(await canBatch(provider, payer, option.chainId))) return false;
  const calls = [...prerequisites.map(({ txRequest }) => txRequest), payment];
  const sentAs = (id: string) => ({ hash: '', ask: () => outcomeOfCalls(provider, id) });
  const id = await request(attempt, {
    kind: 'calls',
    text: page.model.data.texts.stepBatch,
    stage: stages.pay,
    ask: () => sendCalls(provider, payer, { chainId: option.chainId, calls }),
    onLate: (late) => concludeLate(attempt, sentAs(late)),
  });
  if (id === undefined) return false;
  await conclude(attempt, sentAs(id));
  return true;
}

const askPauseMs = 1_000;
/** Ten minutes: then the payer is informed, and may try again. */
const maxAllowanceAsks = 600;
/**
 * Seconds between two requests to the server, which reads the allowance itself: not every wallet reports transactions.
 */
const serverEvery = 5;
/** Seconds after the wallet's report in which the server's node may still see the block. */
const serverMayLag = 5;

/** Waits until the server sees the allowance, or the wallet alone says so for a while. Returns whether the server did. */
async function allowed(
  attempt: PaymentAttempt,
  hash: string,
  isThere: () => Promise<boolean>,
): Promise<boolean> {
  const { page, provider } = attempt;
  const { texts } = page.model.data;
  const words = wordsFor(attempt, texts.stepMining);
  const ifRetryable = async (error: unknown) => {
    if (!(error instanceof Refused) || error.isRetryable) return false;
    // A payment or its end may be the reason: the page has words for them.
    await assertOwed(page);
    throw error;
  };
  let reports = 0;
  return waitFor(page, { words, isFor: 'chain' }, async (isStopped) => {
    for (let asked = 1; asked <= maxAllowanceAsks && !isStopped() && !isPaid(page); asked += 1) {
      const outcome = await outcomeOf(provider, hash);
      if (outcome === 'failed') throw new ExplainedFailure(texts.reverted);
      if (outcome === 'succeeded') reports += 1;
      // A failed server request is repeated, unless that is of no use; it must succeed before the next wallet request.
      const isAsked = reports > 0 || asked % serverEvery === 0;
      if (isAsked && (await isThere().catch(ifRetryable))) return true;
      if (reports > serverMayLag) return false;
      if (asked * askPauseMs === soonMs) page.change({ step: wordsFor(attempt, texts.unseen) });
      await pause(askPauseMs);
    }
    if (!isPaid(page)) throw new ExplainedFailure(wordsFor(attempt, texts.unseen));
    return false;
  });
}

/** A payment that left the wallet: its transaction if known, and how to ask for its outcome. */
interface SentPayment {
  readonly hash: string;
  readonly ask: () => Promise<WalletOutcome>;
}

/** An answer after the payer stopped waiting: the payment, or a second one. */
function concludeLate(attempt: PaymentAttempt, sent: SentPayment): void {
  stopWaiting(attempt.page.model.data.texts.notNeeded);
  conclude(attempt, sent).catch((error: unknown) => tell(attempt.page, error));
}

/**
 * The payment left the wallet. The server reports its success; this reports what the server cannot: that it failed, or
 * that another payment was first.
 */
async function conclude({ page, option }: PaymentAttempt, { hash, ask }: SentPayment): Promise<void> {
  const { texts } = page.model.data;
  const isFirst = () => page.model.data.state?.initiateTx.toLowerCase() === hash.toLowerCase();
  const isSecond = () => hash !== '' && isPaid(page) && !isFirst();
  if (isSecond()) page.change({ step: '', problem: texts.secondSent, isSent: true });
  else markSent(page, option.chainTitle);
  const outcome = await awaitOutcome(ask, () => isPaid(page) && !isSecond());
  // The server knows which payment was first, possibly a moment later than the wallet.
  if (outcome === 'failed') await assertOwed(page).catch(() => undefined);
  // Of a second one that went through, the session's state tells what becomes of it.
  const problem = outcome === 'failed' ? texts.secondRefused : texts.secondSent;
  if (isSecond()) page.change({ step: '', problem });
  else if (outcome === 'failed' && !isPaid(page)) {
    forgetSent(page);
    throw new ExplainedFailure(texts.reverted);
  }
}

/** Codes with which the server refuses a payment by signature: then the payer sends it. */
const notBySignature: readonly number[] = [100612, 900101];
/** Codes with which it says that the payment would fail: then the payer's own transaction, which costs a fee, would too. */
const failing: readonly number[] = [100611, 900401];
/** Codes with which it refuses what the wallet gave: not its owner's signature, or none at all. */
const badSignature: readonly number[] = [100601, 400101];
const submitPauseMs = 3_000;
/** Five minutes. */
const maxSubmits = 100;

/** Pays without gas where token and service allow it: the payer signs, the service sends. False: not possible here. */
async function payBySignature(attempt: PaymentAttempt, { alternatives }: PreparedOrder): Promise<boolean> {
  const way = alternatives.find(({ gasless, typedData, submit }) => gasless && typedData && submit);
  const { typedData, submit: sending } = way ?? {};
  if (sending === undefined) return false;
  const { page, provider, payer, option, deadline } = attempt;
  const { texts, agentApi } = page.model.data;
  const ask = () => signTyped(provider, payer, typedData);
  const signature = await request(attempt, { kind: 'sign', text: texts.stepSign, stage: stages.pay, ask });
  if (signature === undefined) return false;
  // The prompt may have been open for long.
  await assertOwed(page, deadline);
  let stage: number = stages.pay;
  const submit = async () => {
    const { status } = await api.submit(agentApi, sending.path, { ...sending.body, signature });
    // The service has answered: it has the payment, and sends it.
    stage = stages.confirm;
    return status;
  };
  try {
    await submit();
  } catch (error) {
    // Without an answer it may still have been accepted: the same request again shows it.
    if (error instanceof Refused) {
      if (notBySignature.includes(error.code)) return false;
      await assertOwed(page);
      if (failing.includes(error.code)) {
        // The wallet may have sent its money elsewhere meanwhile. Then the page says what is missing.
        await readBalances(page, option.tokenId);
        page.change({ mayPayPlainly: !isShort(page.model) });
        throw new ExplainedFailure(isShort(page.model) ? '' : texts.wayFails);
      }
      if (!badSignature.includes(error.code)) throw error;
      // Such a wallet is asked for more only after another press.
      page.change({ mayPayPlainly: true });
      throw new ExplainedFailure(texts.signatureWrong);
    }
  }
  markSent(page, option.chainTitle, stage);
  // The same request again returns its outcome; the session's events report the block.
  for (let asked = 0; asked < maxSubmits && page.model.isSent && !isPaid(page); asked += 1) {
    await pause(submitPauseMs);
    const before = stage;
    const status = await submit().catch(() => 'submitted');
    if (page.model.isSent && stage !== before) markSent(page, option.chainTitle, stage);
    if (status !== 'failed' || isPaid(page)) continue;
    forgetSent(page);
    throw new ExplainedFailure(texts.reverted);
  }
  return true;
}
