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
    disabled,
    isShort,
  }: {
    readonly id: string;
    readonly kind: 'button' | 'quiet' | 'plain';
    readonly text: Tree;
    readonly click: () => void;
    readonly disabled?: boolean;
    /** The wallet has too little: the button keeps its focus, and says why it does nothing. */
    readonly isShort?: boolean;
  },
): Tree {
  const attributes = {
    disabled,
    'aria-disabled': isShort ? 'true' : isBusy({ step }),
    'aria-describedby': isShort && 'lack',
    click,
  };
  return h('button', { id, class: kind, ...attributes }, text);
}
