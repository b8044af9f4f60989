import type { ScriptTexts } from '../text/script-texts.ts';
import { h, type Tree } from './tree.ts';

/** The stages of a payment by a wallet, in order. */
export const stages = { connect: 0, allow: 1, pay: 2, confirm: 3, done: 4 } as const;

/**
 * The stages with their numbers, which never change before the payer's eyes; those before the present one are done, or were
 * not needed: many payments need no allowance. Before Pay that is undecided while `hasAllowed` is undefined.
 */
export function stagesView(
  texts: ScriptTexts,
  { stage: present, hasAllowed }: { readonly stage: number; readonly hasAllowed: boolean | undefined },
): Tree {
  const names = [texts.stageConnect, texts.stageAllow, texts.pay, texts.stageConfirm, texts.stageDone];
  // The last one is done as soon as it is reached.
  const reached = present === stages.done ? names.length : present;
  const known = present === stages.pay && hasAllowed === undefined ? stages.allow : reached;
  return h(
    'ol',
    { class: 'stages' },
    names.map((name, index) => {
      const isPast = index < known;
      const isSkipped = isPast && index === stages.allow && !hasAllowed;
      return h(
        'li',
        { class: isPast && 'past', 'aria-current': index === present && 'step' },
        h('span', { class: 'dot' }, isSkipped ? '–' : isPast ? '✓' : String(index + 1)),
        h(isSkipped ? 's' : 'span', {}, name),
      );
    }),
  );
}
