import {
  type AmountStyle,
  groupDigits,
  parseTypedAmount,
  type TypedAmount,
  writeTypedAmount,
} from '@florin/protocol/typed-amount.ts';
import type { Texts } from '../text/en.ts';
import { fill } from './format.ts';

/** Far more than any link takes, so that a payer who types too much learns the most. */
const maxWholeDigits = 12;

/** How the page's languages write numbers; others write them as English does. French groups by a narrow no-break space (CLDR). */
function styleOf(locale: string): AmountStyle {
  const isComma = /^(de|es|fr|it|pt|tr)$/.test(locale);
  const group = locale === 'fr' ? '\u202f' : isComma ? '.' : ',';
  return { decimal: isComma ? ',' : '.', group, maxWholeDigits };
}

/** Parses a typed dollar amount in the page's language. */
export function parseAmount(locale: string, typed: string): TypedAmount {
  return parseTypedAmount(styleOf(locale), typed);
}

/** Formats an amount as the payer can type it: `parseAmount` reads the same amount back. */
export function writeAmount(locale: string, microUsd: bigint): string {
  return writeTypedAmount(styleOf(locale), microUsd);
}

/** A field's text and caret position. */
export interface Edited {
  readonly text: string;
  readonly caret: number;
}

/** `typed`: a single character. `deleted`: only a deletion. `whole`: a text inserted at once, such as a paste. */
export type Edit = 'typed' | 'deleted' | 'whole';

/** The kind of an input event. Events without a type count as `whole`, which the field does not rewrite. */
export function editOf({
  inputType = '',
  data,
}: {
  readonly inputType?: string | undefined;
  readonly data?: string | null | undefined;
}): Edit {
  if (inputType.startsWith('delete')) return 'deleted';
  return inputType === 'insertText' && data?.length === 1 ? 'typed' : 'whole';
}

/**
 * The field's text after an edit, with the caret behind the same digit. Separators move only while all of them are the
 * field's own. A typed separator stays, so that a comma meant for cents never disappears. A pasted text stays
 * unchanged, because its separators are not the field's own.
 */
export function groupTyped(locale: string, shown: string, typed: Edited, how: Edit): Edited {
  const style = styleOf(locale);
  const { decimal, group: sign } = style;
  const strip = (text: string) => text.replaceAll(sign, '');
  const regroup = (text: string) => {
    const [whole = '', ...parts] = text.split(decimal);
    return [groupDigits(style, strip(whole)), ...parts.map(strip)].join(decimal);
  };
  const { text, caret } = typed;
  if (how === 'whole' || regroup(shown) !== shown || !/^\d*[.,]?\d*$/.test(strip(text))) return typed;
  const isSignTyped = how === 'typed' && text.charAt(caret - 1) === sign;
  // Phone keyboards may have one separator only: after existing group separators it means the decimal one.
  if (isSignTyped && text === shown + sign)
    return { text: strip(shown) + sign, caret: caret + strip(shown).length - shown.length };
  if (isSignTyped) return typed;
  const next = regroup(text);
  let index = 0;
  for (let left = strip(text.slice(0, caret)).length; left > 0; index += 1)
    if (next.charAt(index) !== sign) left -= 1;
  return { text: next, caret: index };
}

/** The problem of a typed amount, with two ways to type it where it is unclear; empty without one. */
export function problemOfAmount(
  {
    locale,
    texts,
  }: { readonly locale: string; readonly texts: Pick<Texts, 'amountWrong' | 'amountUnclear'> },
  typed: TypedAmount,
): string {
  if (typed.kind === 'amount') return '';
  if (typed.kind === 'wrong') return texts.amountWrong;
  const [first, second] = typed.readings;
  return fill(texts.amountUnclear, {
    first: writeAmount(locale, first),
    second: writeAmount(locale, second),
  });
}
