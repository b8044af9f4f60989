import type { Texts } from '../text/en.ts';
import { Lost, Refused } from './api.ts';
import { fill } from './format.ts';
import type { Model } from './model.ts';
import { ExplainedFailure } from './page.ts';
import { wordsOfError } from './wallet.ts';
import { nextStepOf, type ToldStep } from './wallet-answer.ts';

/**
 * The change with which the page shows a failure in the reader's words. A page whose secret is wrong goes on without one, as it
 * does for strangers: with it every further request would be refused.
 */
export function problemOf(
  model: Pick<Model, 'data'>,
  error: unknown,
): Pick<Model, 'problem'> & Partial<Model> {
  return {
    problem: wordsFor(model.data, error),
    ...(isOfSecret(error) && { clientCode: '' }),
  };
}

/** Whether the server refused a request because of the session's secret. */
export const isOfSecret = (error: unknown): error is Refused =>
  error instanceof Refused && error.code === secretWrong;

const secretWrong = 100202;

function wordsFor({ texts }: Model['data'], error: unknown): string {
  if (error instanceof ExplainedFailure) return error.message;
  // Without words, such as those of an outage, it is for the support: the server's own are English.
  if (error instanceof Lost) return texts.noRoute;
  if (error instanceof Refused) return error.words ?? `${texts.noRoute} (${error.code})`;
  // Only a wallet gives others.
  return wordsOfStep(texts, nextStepOf('connect', error), { network: '', error });
}

/** What a page needs to tell of a wallet's refusals. */
export type StepTexts = Pick<Texts, ToldStep>;

/** A refusal in the reader's words. After a failure of the wallet's own its words stand behind: they are for the support. */
export function wordsOfStep(
  texts: StepTexts,
  step: ToldStep,
  { network, error }: { readonly network: string; readonly error: unknown },
): string {
  const words = fill(texts[step], { network });
  return step === 'failed' ? `${words} (${wordsOfError(error)})` : words;
}
