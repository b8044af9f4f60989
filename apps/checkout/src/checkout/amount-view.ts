import type { Actions, AmountField } from './actions.ts';
import { boundsText } from './bounds.ts';
import { fieldView } from './field.ts';
import { chosenOf, type Model } from './model.ts';
import { h, type Tree } from './tree.ts';

type Typed = { readonly target: AmountField };

/** The field for the amount, where the payer chooses it. Apart from the other fields, because few pages have it. */
export function amountView(model: Model, actions: Actions): Tree {
  const { data, amountProblem } = model;
  const { texts, link } = data;
  if (link?.isCustom !== true) return undefined;
  const bounds = boundsText(data, chosenOf(model) ?? {});
  return fieldView(
    model,
    {
      id: 'amount',
      label: texts.amountLabel,
      hint: [texts.amountHint, bounds && [' · ', h('span', { id: 'amount-bounds' }, bounds)]],
      // They stand at the field itself.
      problems: [],
      attributes: {
        inputmode: 'decimal',
        autocomplete: 'transaction-amount',
        'aria-describedby': 'amount-hint amount-problem',
        required: true,
        'aria-invalid': amountProblem !== '' && 'true',
        input: ({ target }: Typed) => actions.typeAmount(target),
        change: ({ target }: Typed) => actions.leaveAmount(target),
      },
    },
    h('span', { id: 'amount-problem', class: 'problem', role: 'alert' }, amountProblem),
  );
}
