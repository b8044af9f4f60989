import { parseTypedAmount, type TypedAmount } from '@florin/protocol/typed-amount.ts';
import type { Texts } from '../text/en.ts';
import { fill, formatUnits } from './format.ts';

/** Far more than any link takes, so that a payer who types too much learns the most. */
const maxWholeDigits = 12;

/** What groups thousands in the page's languages; most group as English does, and French by a narrow no-break space (CLDR). */
function groupOf(locale: string): string {
  if (locale === 'fr') return '\u202f';
  return /^(de|es|it|pt|tr)$/.test(locale) ? '.' : ',';
}

/** Parses a typed dollar amount in the page's language. */
export function parseAmount(locale: string, typed: string): TypedAmount {
  return parseTypedAmount({ group: groupOf(locale), maxWholeDigits }, typed);
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
