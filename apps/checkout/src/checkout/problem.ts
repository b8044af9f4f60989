import { Refused } from './api.ts';
import { fill, shorten } from './format.ts';
import type { Model } from './model.ts';
import { ExplainedFailure } from './page.ts';
import { wordsOfError } from './wallet.ts';
import type { NextStep } from './wallet-answer.ts';

/** Server error codes that the page has words for (packages/protocol/src/error.ts). */
const codes = {
  notActive: 100103,
  versionChanged: 100104,
  amountRange: 100209,
  payerMismatch: 100206,
} as const;

/** The problem in the reader's words, if the page has any. */
export function problemOf({ data }: Pick<Model, 'data'>, error: unknown): string {
  const { texts } = data;
  if (error instanceof ExplainedFailure) return error.message;
  if (error instanceof Refused) {
    if (error.code === codes.versionChanged || error.code === codes.notActive) return texts.changed;
    if (error.code === codes.amountRange) return texts.amountRefused;
    if (error.code === codes.payerMismatch)
      return fill(texts.wrongPayer, { address: shorten(data.intendedPayer) });
    return fill(texts.failed, { reason: error.message });
  }
  return fill(texts.failed, { reason: wordsOfError(error) });
}

/** The payer's options after a wallet refusal that the page cannot resolve by itself. */
export function wordsOfStep(
  { data }: Pick<Model, 'data'>,
  step: NextStep,
  { network, error }: { readonly network: string; readonly error: unknown },
): string {
  const { texts } = data;
  switch (step) {
    case 'declined':
      return texts.rejected;
    case 'busy':
      return texts.walletBusy;
    case 'add_network':
    case 'change_by_hand':
      return fill(texts.wrongNetwork, { network });
    case 'connect_again':
      return texts.disconnected;
    case 'use_address':
      return texts.walletCannotSend;
    case 'pay_plainly':
    case 'tell':
      return fill(texts.failed, { reason: wordsOfError(error) });
  }
}
