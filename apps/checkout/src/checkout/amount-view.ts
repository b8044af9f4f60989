import type { Actions, AmountField } from './actions.ts';
import { editOf } from './amount.ts';
import type { Model } from './model.ts';
import { h, type Tree } from './tree.ts';

type Typed = { readonly target: AmountField } & Parameters<typeof editOf>[0];

/** The field for the amount, where the payer chooses it. Apart from the other fields, because few pages have it. */
export function amountView({ data, step, amountProblem }: Model, actions: Actions): Tree {
  const { texts, link } = data;
  if (link?.isCustom !== true) return undefined;
  return h(
    'p',
    { class: 'field' },
    h('label', { for: 'amount-input' }, texts.amountLabel),
    h('input', {
      id: 'amount-input',
      inputmode: 'decimal',
      autocomplete: 'transaction-amount',
      'aria-describedby': 'amount-hint amount-bounds amount-problem',
      required: true,
      readonly: step !== '',
      'aria-invalid': amountProblem !== '' && 'true',
      input: (event: Typed) => actions.typeAmount(event.target, editOf(event)),
      change: ({ target }: Typed) => actions.leaveAmount(target),
    }),
    h('span', { id: 'amount-hint', class: 'soft small' }, texts.amountHint),
    h('span', { id: 'amount-bounds', class: 'soft small' }, data.bounds),
    h('span', { id: 'amount-problem', class: 'problem', role: 'alert' }, amountProblem),
  );
}
