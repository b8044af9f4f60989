import { type AmountStyle, parseTypedAmount, type TypedAmount } from '@florin/protocol/typed-amount.ts';
import type { Texts } from '../text/en.ts';
import { fill, formatUnits } from './format.ts';

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
  // Three decimals would read as thousands.
  const minimumFractionDigits = microUsd % 10_000n === 0n ? 2 : 4;
  return formatUnits(locale, `${microUsd}`, 6, { minimumFractionDigits, numberingSystem: 'latn' });
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
