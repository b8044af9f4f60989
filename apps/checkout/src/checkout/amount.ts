import type { Texts } from '../text/en.ts';
import { fill } from './format.ts';

/** A typed dollar amount. `unclear`: it has two readings. All in Micro-USD. */
export type TypedAmount =
  | { readonly kind: 'amount'; readonly amount: bigint }
  | { readonly kind: 'unclear'; readonly readings: readonly [bigint, bigint] }
  | { readonly kind: 'wrong' };

interface Separators {
  /** The decimal separator. */
  readonly decimal: '.' | ',';
  /** The group separator that the field itself inserts. */
  readonly group: string;
}

const point: Separators = { decimal: '.', group: ',' };
const comma: Separators = { decimal: ',', group: '.' };
/** French groups by a narrow no-break space (CLDR). */
const commaAndSpace: Separators = { decimal: ',', group: '\u202f' };

/** Number separators of the page's languages; other languages use those of English. */
const written: Readonly<Record<string, Separators>> = {
  de: comma,
  es: comma,
  fr: commaAndSpace,
  it: comma,
  pt: comma,
  tr: comma,
};

const separatorsOf = (locale: string): Separators => written[locale] ?? point;

/** Below 100 million dollars; a link's real limit is lower, and its offer states it. */
const maxWholeDigits = 8;
const maxPartDigits = 6;

/** Converts Arabic and Persian digits and separators to Latin ones, and full-width and other forms to plain ones. */
function plain(typed: string): string {
  return typed
    .normalize('NFKC')
    .replace(/[\u0660-\u0669\u06f0-\u06f9]/g, (digit) => String(digit.charCodeAt(0) & 15))
    .replace(/[\u200e\u200f\u2066-\u2069]/g, '')
    .trim();
}

/**
 * Parses a typed dollar amount in the page's language. A point or comma may be a group or a decimal separator. Which
 * one it is must follow from the text, or from the language where it groups with that sign. Otherwise the text is
 * `unclear`, because one reading is a thousand times the other. Zero, and more than six decimals, are `wrong`.
 */
export function parseAmount(locale: string, typed: string): TypedAmount {
  // Spaces, apostrophes and the Arabic group separator always group; the Arabic decimal separator never does.
  const number = /^(\d+(?:[.,\u066b\s'’\u066c]\d+)*)[.,]?$/.exec(plain(typed))?.[1];
  if (number === undefined) return { kind: 'wrong' };
  const thousands = amountOf(withoutGroups(number), '');
  const [, before = '', sign = '', after = ''] = /^(.*)([.,\u066b])(\d+)$/.exec(number) ?? [];
  const parts = before.includes(sign) ? undefined : amountOf(withoutGroups(before), after);
  const isGroup = sign === separatorsOf(locale).group;
  // The language's group separator before too many digits for a decimal separator.
  const isMisplaced = thousands === undefined && isGroup && after.length > 2 && !/^0+$/.test(before);
  const meant = isMisplaced ? amountOf((before + after).replace(/\D/g, ''), '') : thousands;
  if (meant !== undefined && parts !== undefined && (isMisplaced || !isGroup))
    return { kind: 'unclear', readings: [meant, parts] };
  const amount = thousands ?? parts;
  return amount === undefined ? { kind: 'wrong' } : { kind: 'amount', amount };
}

/** Digits without group separators; undefined where separators are misplaced or of two kinds. */
function withoutGroups(text: string): string | undefined {
  if (/^\d+$/.test(text)) return text;
  return /^[1-9]\d{0,2}([.,\s'’\u066c])\d{3}(?:\1\d{3})*$/.test(text) ? text.replace(/\D/g, '') : undefined;
}

function amountOf(whole: string | undefined, part: string): bigint | undefined {
  if (whole === undefined || whole.length > maxWholeDigits || part.length > maxPartDigits) return undefined;
  const amount = BigInt(whole) * 1_000_000n + BigInt(part.padEnd(maxPartDigits, '0'));
  return amount > 0n ? amount : undefined;
}

/** Formats an amount as the payer can type it: `parseAmount` reads the same amount back. */
export function writeAmount(locale: string, microUsd: bigint): string {
  const { decimal } = separatorsOf(locale);
  const digits = (microUsd % 1_000_000n).toString().padStart(6, '0').replace(/0+$/, '').padEnd(2, '0');
  // Three decimals would read as thousands.
  const part = digits.length === 3 ? `${digits}0` : digits;
  return `${group(locale, (microUsd / 1_000_000n).toString())}${decimal}${part}`;
}

/**
 * Inserts group separators. Digits with leading zeros stay unchanged, because `parseAmount` would not read them with
 * separators.
 */
function group(locale: string, whole: string): string {
  if (whole.startsWith('0')) return whole;
  return whole.replace(/\B(?=(?:\d{3})+$)/g, separatorsOf(locale).group);
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
  const { decimal, group: sign } = separatorsOf(locale);
  const strip = (text: string) => text.replaceAll(sign, '');
  const regroup = (text: string) => {
    const [whole = '', ...parts] = text.split(decimal);
    return [group(locale, strip(whole)), ...parts.map(strip)].join(decimal);
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
  const [first, second] = typed.readings.map((reading) => writeAmount(locale, reading));
  return fill(texts.amountUnclear, { first: first ?? '', second: second ?? '' });
}
