import type { ScriptTexts } from '../text/script-texts.ts';
import { h, type Tree } from './tree.ts';

/** The stages of a payment by a wallet, in order. */
export const stages = { connect: 0, allow: 1, pay: 2, confirm: 3, done: 4 } as const;

/** The stages with their numbers; those before the present one are done. A payment that needed no allowance has no stage for it. */
export function stagesView(
  texts: ScriptTexts,
  { stage: present, hasAllowed }: { readonly stage: number; readonly hasAllowed: boolean },
): Tree {
  const names = [texts.stageConnect, texts.stageAllow, texts.pay, texts.stageConfirm, texts.stageDone];
  const isSkipped = present > stages.allow && !hasAllowed;
  const shown = [...names.keys()].filter((index) => index !== stages.allow || !isSkipped);
  return h(
    'ol',
    { class: 'stages' },
    shown.map((index, place) =>
      h(
        'li',
        {
          class: index < present && 'past',
          'aria-current': index === present && 'step',
        },
        h('span', { class: 'dot' }, index < present ? '✓' : String(place + 1)),
        h('span', {}, names[index]),
      ),
    ),
  );
}
