import type { CheckoutOption } from '@florin/protocol/checkout-api.ts';
import { fill } from './format.ts';
import { type Model, wrongness } from './model.ts';
import { h, type Tree } from './tree.ts';

/** For payers with money elsewhere: where it goes if it cannot pay. */
export function refundView(model: Model, { chainTitle }: CheckoutOption): Tree {
  const { texts } = model.data;
  return h(
    'p',
    { class: 'field' },
    h('label', { for: 'refund-input' }, fill(texts.refundLabel, { network: chainTitle })),
    h('input', {
      id: 'refund-input',
      // The last one in this browser, or the connected wallet's; the payer may change it.
      value: model.refund === '' ? model.payer : model.refund,
      autocomplete: 'off',
      spellcheck: 'false',
      maxlength: '64',
      dir: 'ltr',
      readonly: model.step !== '',
      ...wrongness(model, 'refund-input', 'refund-hint'),
    }),
    h('span', { id: 'refund-hint', class: 'soft small' }, texts.refundHint),
  );
}
