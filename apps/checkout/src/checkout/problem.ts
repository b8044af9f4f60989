import { refusalWords } from '../text/refusal-words.ts';
import type { ScriptTexts } from '../text/script-texts.ts';
import { Refused } from './api.ts';
import { fill, formatWait, shorten } from './format.ts';
import type { Model } from './model.ts';
import { ExplainedFailure } from './page.ts';
import { wordsOfError } from './wallet.ts';
import type { NextStep } from './wallet-answer.ts';

/** The change with which the page shows a failure in the reader's words, at the field that it is about. */
export function problemOf(model: Pick<Model, 'data'>, error: unknown): Pick<Model, 'problem' | 'wrongField'> {
  return {
    problem: wordsFor(model, error),
    wrongField: error instanceof ExplainedFailure ? error.field : '',
  };
}

function wordsFor({ data }: Pick<Model, 'data'>, error: unknown): string {
  const { texts, locale } = data;
  if (error instanceof ExplainedFailure) return error.message;
  if (error instanceof Refused) {
    const name = refusalWords[error.code];
    const time = formatWait(locale, error.retryAfterSeconds);
    // The server's own words are English. The code is for the support.
    if (name === undefined) return `${texts.noRoute} (${error.code})`;
    return fill(texts[name], { address: shorten(data.intendedPayer), time });
  }
  return fill(texts.failed, { reason: wordsOfError(error) });
}

/** The payer's options after a wallet refusal that the page cannot resolve by itself. */
const stepWords: Readonly<Record<NextStep, keyof ScriptTexts>> = {
  declined: 'rejected',
  busy: 'walletBusy',
  add_network: 'wrongNetwork',
  change_by_hand: 'wrongNetwork',
  connect_again: 'disconnected',
  use_address: 'walletCannotSend',
  pay_plainly: 'failed',
  tell: 'failed',
};

/** The same in the reader's words. */
export function wordsOfStep(
  { data }: Pick<Model, 'data'>,
  step: NextStep,
  { network, error }: { readonly network: string; readonly error: unknown },
): string {
  return fill(data.texts[stepWords[step]], { network, reason: wordsOfError(error) });
}
