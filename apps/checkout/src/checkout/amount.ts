import type { Texts } from '../text/en.ts';
import { fill } from './format.ts';

/** What a payer has typed as dollars. `unclear`: it reads as two amounts. All in Micro-USD. */
export type TypedAmount =
  | { readonly kind: 'amount'; readonly amount: bigint }
  | { readonly kind: 'unclear'; readonly readings: readonly [bigint, bigint] }
  | { readonly kind: 'wrong' };

interface Separators {
  /** Between whole dollars and parts of one. */
  readonly decimal: '.' | ',';
  /** Between thousands, as the field itself writes it. */
  readonly group: string;
}

const point: Separators = { decimal: '.', group: ',' };
const comma: Separators = { decimal: ',', group: '.' };
/** French groups by a narrow space that does not break (CLDR). */
const commaAndSpace: Separators = { decimal: ',', group: '\u202f' };

/** How the languages of the page write numbers; the others write them as English does. */
const written: Readonly<Record<string, Separators>> = {
  de: comma,
  es: comma,
  fr: commaAndSpace,
  it: comma,
  pt: comma,
  tr: comma,
};

const separatorsOf = (locale: string): Separators => written[locale] ?? point;

/** Below 100 million dollars; what a link takes in truth is less, and its offer says so. */
const maxWholeDigits = 8;
const maxPartDigits = 6;

/** Arabic and Persian digits and separators as Latin ones; full-width and other forms as plain ones. */
function plain(typed: string): string {
  return typed
    .normalize('NFKC')
    .replace(/[\u0660-\u0669\u06f0-\u06f9]/g, (digit) => String(digit.charCodeAt(0) & 15))
    .replace(/[\u200e\u200f\u2066-\u2069]/g, '')
    .trim();
}

/**
 * Reads what a payer types as dollars, in the page's language. A point or a comma may stand between thousands or before cents:
 * which one it is has to follow from what is typed, or from the language where that sign groups thousands. What could be
 * either is `unclear`, as one reading is a thousand times the other. Zero, and more than six digits of parts, are `wrong`.
 */
export function parseAmount(locale: string, typed: string): TypedAmount {
  // Spaces, apostrophes and the Arabic sign of thousands always group; the Arabic sign of parts never does.
  const number = /^(\d+(?:[.,\u066b\s'’\u066c]\d+)*)[.,]?$/.exec(plain(typed))?.[1];
  if (number === undefined) return { kind: 'wrong' };
  const thousands = amountOf(withoutGroups(number), '');
  const [, before = '', sign = '', after = ''] = /^(.*)([.,\u066b])(\d+)$/.exec(number) ?? [];
  const parts = before.includes(sign) ? undefined : amountOf(withoutGroups(before), after);
  const isGroup = sign === separatorsOf(locale).group;
  // The language's sign of thousands, before so many digits that it is no comma or point of cents either.
  const isMisplaced = thousands === undefined && isGroup && after.length > 2 && !/^0+$/.test(before);
  const meant = isMisplaced ? amountOf((before + after).replace(/\D/g, ''), '') : thousands;
  if (meant !== undefined && parts !== undefined && (isMisplaced || !isGroup))
    return { kind: 'unclear', readings: [meant, parts] };
  const amount = thousands ?? parts;
  return amount === undefined ? { kind: 'wrong' } : { kind: 'amount', amount };
}

/** Digits without the signs between thousands; undefined where those stand elsewhere, or are of two kinds. */
function withoutGroups(text: string): string | undefined {
  if (/^\d+$/.test(text)) return text;
  return /^[1-9]\d{0,2}([.,\s'’\u066c])\d{3}(?:\1\d{3})*$/.test(text) ? text.replace(/\D/g, '') : undefined;
}

function amountOf(whole: string | undefined, part: string): bigint | undefined {
  if (whole === undefined || whole.length > maxWholeDigits || part.length > maxPartDigits) return undefined;
  const amount = BigInt(whole) * 1_000_000n + BigInt(part.padEnd(maxPartDigits, '0'));
  return amount > 0n ? amount : undefined;
}

/** Writes an amount as its payer can type it: what `parseAmount` reads as the same amount. */
export function writeAmount(locale: string, microUsd: bigint): string {
  const { decimal } = separatorsOf(locale);
  const digits = (microUsd % 1_000_000n).toString().padStart(6, '0').replace(/0+$/, '').padEnd(2, '0');
  // Three digits of parts would read as thousands.
  const part = digits.length === 3 ? `${digits}0` : digits;
  return `${group(locale, (microUsd / 1_000_000n).toString())}${decimal}${part}`;
}

/** With thousands set; digits with zeros before them stay as they are, for they would not be read with thousands. */
function group(locale: string, whole: string): string {
  if (whole.startsWith('0')) return whole;
  return whole.replace(/\B(?=(?:\d{3})+$)/g, separatorsOf(locale).group);
}

/** A field's text, and where its caret stands. */
export interface Edited {
  readonly text: string;
  readonly caret: number;
}

/** `typed`: a single character. `deleted`: only taken away. `whole`: a text that came at once, as by a paste. */
export type Edit = 'typed' | 'deleted' | 'whole';

/** What an input event did. Browsers that do not say it count as `whole`, which the field does not rewrite. */
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
 * What the field shows after an edit, with the caret behind the same digit. Thousands move only while all of them are the
 * field's own: a sign that the payer types stays, so that a comma meant for cents never vanishes. A text that came as a whole
 * stays as it came: its signs are not the field's own.
 */
export function groupTyped(locale: string, shown: string, typed: Edited, how: Edit): Edited {
  const { decimal, group: sign } = separatorsOf(locale);
  const strip = (text: string) => text.replaceAll(sign, '');
  const regroup = (text: string) => {
    const [whole = '', ...parts] = text.split(decimal);
    return [group(locale, strip(whole)), ...parts.map(strip)].join(decimal);
  };
  const { text, caret } = typed;
  if (how === 'whole' || regroup(shown) !== shown || !/^\d*[.,]?\d*$/.test(strip(text))) return typed;
  const isSignTyped = how === 'typed' && text.charAt(caret - 1) === sign;
  // Keyboards of phones may have one sign alone: behind thousands that are set already it is meant for cents.
  if (isSignTyped && text === shown + sign)
    return { text: strip(shown) + sign, caret: caret + strip(shown).length - shown.length };
  if (isSignTyped) return typed;
  const next = regroup(text);
  let index = 0;
  for (let left = strip(text.slice(0, caret)).length; left > 0; index += 1)
    if (next.charAt(index) !== sign) left -= 1;
  return { text: next, caret: index };
}

/** What is wrong with a typed amount, with two ways to type it where it is unclear; empty: nothing. */
export function problemOfAmount(
  {
    locale,
    texts,
  }: { readonly locale: string; readonly texts: Pick<Texts, 'amountWrong' | 'amountUnclear'> },
  typed: TypedAmount,
): string {
  if (typed.kind === 'amount') return '';
  if (typed.kind === 'wrong') return texts.amountWrong;
  const [first, second] = typed.readings.map((reading) => writeAmount(locale, reading));
  return fill(texts.amountUnclear, { first: first ?? '', second: second ?? '' });
}
