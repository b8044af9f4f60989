import type { ScriptTexts } from '../text/script-texts.ts';
import { h, type Tree } from './tree.ts';

/** The stages of a payment by a wallet, in order. */
export const stages = { connect: 0, allow: 1, pay: 2, confirm: 3, done: 4 } as const;

/** The stages with their numbers; those before the present one are done. */
export function stagesView(texts: ScriptTexts, present: number): Tree {
  const names = [texts.stageConnect, texts.stageAllow, texts.pay, texts.stageConfirm, texts.stageDone];
  return h(
    'ol',
    { class: 'stages' },
    names.map((name, index) =>
      h(
        'li',
        {
          class: index < present && 'past',
          'aria-current': index === present && 'step',
        },
        h('span', { class: 'dot' }, index < present ? '✓' : String(index + 1)),
        h('span', {}, name),
      ),
    ),
  );
}
