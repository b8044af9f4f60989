/** How a person of one language groups the digits of a number, and how large it may be. */
interface ReadStyle {
  /** Between groups of three digits. */
  readonly group: string;
  readonly maxWholeDigits: number;
}

/** How a person of one language writes a number, and how large it may be. */
export interface AmountStyle extends ReadStyle {
  readonly decimal: '.' | ',';
}

/** Why a text is no amount. */
export type AmountFault = 'unreadable' | 'negative' | 'zero' | 'too_large' | 'too_precise';

/** A typed dollar amount. `unclear`: it has two readings. All in Micro-USD. */
export type TypedAmount =
  | { readonly kind: 'amount'; readonly amount: bigint }
  | { readonly kind: 'unclear'; readonly readings: readonly [bigint, bigint] }
  /** `amountFault` says why. */
  | { readonly kind: 'wrong' };

const maxPartDigits = 6;

/** Converts Arabic and Persian digits and separators to Latin ones, and full-width and other forms to plain ones. */
function plain(typed: string): string {
  return typed
    .normalize('NFKC')
    .replace(/[\u0660-\u0669\u06f0-\u06f9]/g, (digit) => String(digit.charCodeAt(0) & 15))
    .replace(/[\u200e\u200f\u061c\u2066-\u2069]/g, '')
    .trim();
}

/**
 * Parses a dollar amount that a person typed. A point or comma may be a group or a decimal separator. Which one it is must
 * follow from the text, or from the language where it groups with that sign. Otherwise the text is `unclear`, because one
 * reading is a thousand times the other. Zero, and more than six decimals, are `wrong`.
 */
export function parseTypedAmount(style: ReadStyle, typed: string): TypedAmount {
  const [allDigits, wholeDigits, before, sign, after] = partsOf(plain(typed));
  const thousands = amountOf(style, allDigits, '');
  const parts = amountOf(style, wholeDigits, after);
  const isGroup = sign === style.group;
  // The language's group separator before too many digits for a decimal separator.
  const isMisplaced = thousands === undefined && isGroup && after.length > 2 && !/^0+$/.test(before);
  const meant = isMisplaced ? amountOf(style, (before + after).replace(/\D/g, ''), '') : thousands;
  if (meant !== undefined && parts !== undefined && (isMisplaced || !isGroup))
    return { kind: 'unclear', readings: [meant, parts] };
  const amount = thousands ?? parts;
  return amount === undefined ? { kind: 'wrong' } : { kind: 'amount', amount };
}

/** Both readings of a number, without group separators: all of it, and what stands before its last point or comma; and its parts. */
function partsOf(text: string) {
  // Spaces, apostrophes and the Arabic group separator always group; the Arabic decimal separator never does.
  const number = /^(\d+(?:[.,\u066b\s'’\u066c]\d+)*)[.,]?$/.exec(text)?.[1] ?? '';
  const [, before = '', sign = '', after = ''] = /^(.*)([.,\u066b])(\d+)$/.exec(number) ?? [];
  const wholeDigits = before.includes(sign) ? undefined : withoutGroups(before);
  return [withoutGroups(number), wholeDigits, before, sign, after] as const;
}

/** Digits without group separators; undefined where separators are misplaced or of two kinds. */
function withoutGroups(text: string): string | undefined {
  if (/^\d+$/.test(text)) return text;
  return /^[1-9]\d{0,2}([.,\s'’\u066c])\d{3}(?:\1\d{3})*$/.test(text) ? text.replace(/\D/g, '') : undefined;
}

function amountOf(
  { maxWholeDigits }: ReadStyle,
  whole: string | undefined,
  part: string,
): bigint | undefined {
  if (whole === undefined || whole.length > maxWholeDigits || part.length > maxPartDigits) return undefined;
  const amount = BigInt(whole + part.padEnd(maxPartDigits, '0'));
  return amount > 0n ? amount : undefined;
}

/** Why a text is `wrong`. */
export function amountFault({ maxWholeDigits }: AmountStyle, typed: string): AmountFault {
  const text = plain(typed);
  const [allDigits, wholeDigits, , , after] = partsOf(text);
  const whole = allDigits ?? wholeDigits;
  const part = allDigits === undefined ? after : '';
  if (whole === undefined) return /^[-\u2212]\s*\d/.test(text) ? 'negative' : 'unreadable';
  if (whole.length > maxWholeDigits) return 'too_large';
  return part.length > maxPartDigits ? 'too_precise' : 'zero';
}

/** Formats an amount as a person of the language can type it: `parseTypedAmount` reads the same amount back. */
export function writeTypedAmount(style: AmountStyle, microUsd: bigint): string {
  const text = microUsd.toString().padStart(maxPartDigits + 1, '0');
  const digits = text.slice(-maxPartDigits).replace(/0+$/, '').padEnd(2, '0');
  // Three decimals would read as thousands.
  const part = digits.length === 3 ? `${digits}0` : digits;
  return `${groupDigits(style, text.slice(0, -maxPartDigits))}${style.decimal}${part}`;
}

/**
 * Inserts group separators. Digits with leading zeros stay unchanged, because `parseTypedAmount` would not read them with
 * separators.
 */
function groupDigits({ group }: AmountStyle, whole: string): string {
  if (whole.startsWith('0')) return whole;
  return whole.replace(/\B(?=(?:\d{3})+$)/g, group);
}
