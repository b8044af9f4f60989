import type { CheckoutOption } from '@florin/protocol/checkout-state.ts';
import { fieldView } from './field.ts';
import { fill } from './format.ts';
import type { Model } from './model.ts';
import type { Tree } from './tree.ts';

/** For payers with money elsewhere: where it goes if it cannot pay. */
export function refundView(model: Model, { chainTitle }: CheckoutOption): Tree {
  const { texts } = model.data;
  return fieldView(model, {
    id: 'refund',
    label: fill(texts.refundLabel, { network: chainTitle }),
    hint: texts.refundHint,
    problems: [texts.refundWrong],
    attributes: {
      // The last one in this browser, or the connected wallet's; the payer may change it.
      value: model.refund || model.payer,
      autocomplete: 'off',
      spellcheck: 'false',
      maxlength: '64',
      dir: 'ltr',
    },
  });
}
