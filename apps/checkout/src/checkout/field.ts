import type { Model } from './model.ts';
import { type Attributes, h, type Tree } from './tree.ts';

interface Field {
  /** The input is called `<id>-input`. */
  readonly id: string;
  readonly label: string;
  readonly hint: Tree;
  /** The page's problems that are about this field. */
  readonly problems: readonly string[];
  readonly attributes: Attributes;
}

/** A field with its label, its hint and more. While something is under way it keeps its text. */
export function fieldView(
  { step, problem }: Pick<Model, 'step' | 'problem'>,
  { id, label, hint, problems, attributes }: Field,
  ...more: readonly Tree[]
): Tree {
  const [inputId, hintId] = [`${id}-input`, `${id}-hint`];
  const isWrong = problems.includes(problem);
  return h(
    'p',
    { class: 'field' },
    h('label', { for: inputId }, label),
    h('input', {
      id: inputId,
      readonly: step !== '',
      'aria-invalid': isWrong && 'true',
      'aria-describedby': isWrong ? `${hintId} problem` : hintId,
      ...attributes,
    }),
    h('span', { id: hintId, class: 'soft small' }, hint),
    more,
  );
}
