import type { Model } from './model.ts';
import { h, type Tree } from './tree.ts';

/** While something is under way, controls do nothing but keep the focus. */
export const isBusy = ({ step }: Pick<Model, 'step'>) => step !== '' && 'true';

/** A button that begins something. While something else is under way, it does nothing but keeps the focus. */
export function taskButton(
  { step }: Pick<Model, 'step'>,
  {
    id,
    kind,
    text,
    click,
    disabled = false,
    lack,
  }: {
    readonly id: string;
    readonly kind: 'button' | 'quiet' | 'plain';
    readonly text: Tree;
    readonly click: () => void;
    readonly disabled?: boolean;
    /** The id of the words that say what is missing: until then it does nothing, and keeps the focus. */
    readonly lack?: string;
  },
): Tree {
  const attributes = {
    disabled,
    'aria-disabled': lack === undefined ? isBusy({ step }) : 'true',
    'aria-describedby': lack,
    click,
  };
  return h('button', { id, class: kind, ...attributes }, text);
}
