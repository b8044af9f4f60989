import type { NetworkFacts } from '@florin/protocol/checkout-order.ts';
import type { CheckoutOption } from '@florin/protocol/checkout-state.ts';
import { api } from './api.ts';
import { takeAccount } from './connect.ts';
import { fill, formatPrice } from './format.ts';
import { isMade, isOver, withState } from './model.ts';
import { ExplainedFailure, type Page } from './page.ts';
import { wordsOfStep } from './problem.ts';
import { waitFor } from './prompt.ts';
import { accountsOf, hasNoCoin, isOn, switchNetwork, wordsOfError } from './wallet.ts';
import { nextStepOf } from './wallet-answer.ts';
import type { Provider } from './wallet-type.ts';

/** One attempt to pay: who pays, with what, and by which order. */
export interface PaymentAttempt {
  readonly page: Page;
  readonly provider: Provider;
  readonly payer: string;
  readonly option: CheckoutOption;
  /** For a wallet that does not know the network. */
  readonly network?: NetworkFacts | undefined;
  /** Unix seconds: until then a block may carry the order. */
  readonly deadline: string;
}

interface Request<Answer> {
  readonly kind: 'sign' | 'calls' | 'send';
  /** What the payer must do in the wallet, with places for the amount. */
  readonly text: string;
  readonly stage: number;
  readonly ask: () => Promise<Answer>;
  /** Gets an answer that arrives after the payer stopped waiting. */
  readonly onLate?: (answer: Answer) => void;
}

/** With fewer seconds left, an answered request could not reach a block in time. */
const marginSeconds = 30;

/** Asks the server whether the session is still unpaid, and throws unless it is: events may be late or lost. */
export async function assertOwed(page: Page, deadline?: string): Promise<void> {
  const { texts } = page.model.data;
  const read = await api.read(page.model).catch(() => {
    throw new ExplainedFailure(texts.cannotCheck);
  });
  page.change(withState(page.model, read));
  if (isMade(read.state)) throw new ExplainedFailure(texts.notNeeded);
  if (read.state.status === 'cancelled') throw new ExplainedFailure(texts.cancelledHint);
  if (!read.state.isPayable) throw new ExplainedFailure(texts.timeOver);
  if (deadline !== undefined && Number(deadline) < read.now + marginSeconds)
    throw new ExplainedFailure(texts.orderOver);
}

/**
 * Sends one request to the wallet after checking its account, its network and, last, that the session is still unpaid.
 * Undefined: the wallet cannot do it, and plain transactions can.
 */
export async function request<Answer>(
  attempt: PaymentAttempt,
  { kind, text, stage, ask, onLate }: Request<Answer>,
): Promise<Answer | undefined> {
  const { page, provider, option, deadline } = attempt;
  await assertAccount(attempt);
  try {
    await bringToNetwork(attempt);
    await assertOwed(page, deadline);
    page.change({ stage, hasAllowed: page.model.hasAllowed ?? false });
    const words = wordsFor(attempt, text);
    return await waitFor(page, { words, isFor: 'wallet' }, ask, onLate);
  } catch (error) {
    if (error instanceof ExplainedFailure) throw error;
    const step = nextStepOf(kind, error);
    if (step === 'pay_plainly') return undefined;
    if (step === 'disconnected') takeAccount(page, provider, '');
    // A prompt that the payer was asked to reject.
    const { state } = page.model.data;
    if (step === 'rejected' && isOver(state)) throw new ExplainedFailure('');
    // A transaction costs gas, so it takes another press.
    if (kind === 'sign' && (step === 'rejected' || step === 'failed')) page.change({ mayPayPlainly: true });
    const { texts } = page.model.data;
    const coin = attempt.network?.currency.symbol;
    // Such a wallet says it in words of its own, or lets its owner do nothing but decline.
    const mayLackCoin = step === 'rejected' || (step === 'failed' && /fund|gas/i.test(wordsOfError(error)));
    if (kind !== 'sign' && mayLackCoin && coin !== undefined && (await hasNoCoin(provider, attempt.payer)))
      throw new ExplainedFailure(fill(texts.noCoin, { coin }));
    throw new ExplainedFailure(wordsOfStep(texts, step, { network: option.chainTitle, error }));
  }
}

/** A text with the payment's amount and network. */
export function wordsFor({ page, option }: PaymentAttempt, text: string): string {
  const amount = formatPrice(page.model.data.locale, option);
  return fill(text, { amount, network: option.chainTitle });
}

async function assertAccount({ page, provider, payer }: PaymentAttempt): Promise<void> {
  const { texts } = page.model.data;
  const accounts = await accountsOf(provider);
  if (accounts !== undefined && !accounts.includes(payer.toLowerCase()))
    takeAccount(page, provider, accounts[0] ?? '');
  if (page.model.payer === payer) return;
  throw new ExplainedFailure(page.model.payer === '' ? texts.disconnected : texts.accountChanged);
}

/** Switches the wallet to the payment's network if needed. Throws the problem in words for its owner. */
export async function bringToNetwork(attempt: PaymentAttempt): Promise<void> {
  const { page, provider, option, deadline } = attempt;
  if (await isOn(provider, option.chainId)) return;
  await assertOwed(page, deadline);
  const network = option.chainTitle;
  const words = wordsFor(attempt, page.model.data.texts.stepSwitch);
  const wanted = { ...option, network: attempt.network };
  const step = await waitFor(page, { words, isFor: 'wallet' }, () => switchNetwork(provider, wanted));
  if (step !== 'done')
    throw new ExplainedFailure(wordsOfStep(page.model.data.texts, step, { network, error: undefined }));
}
