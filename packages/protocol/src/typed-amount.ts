/** How a person of one language writes a number, and how large it may be. */
export interface AmountStyle {
  readonly decimal: '.' | ',';
  /** Between groups of three digits. */
  readonly group: string;
  readonly maxWholeDigits: number;
}

/** Why a text is no amount. */
export type AmountFault = 'unreadable' | 'negative' | 'zero' | 'too_large' | 'too_precise';

/** A typed dollar amount. `unclear`: it has two readings. All in Micro-USD. */
export type TypedAmount =
  | { readonly kind: 'amount'; readonly amount: bigint }
  | { readonly kind: 'unclear'; readonly readings: readonly [bigint, bigint] }
  | { readonly kind: 'wrong'; readonly fault: AmountFault };

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
export function parseTypedAmount(style: AmountStyle, typed: string): TypedAmount {
  const text = plain(typed);
  // Spaces, apostrophes and the Arabic group separator always group; the Arabic decimal separator never does.
  const number = /^(\d+(?:[.,\u066b\s'’\u066c]\d+)*)[.,]?$/.exec(text)?.[1];
  if (number === undefined)
    return { kind: 'wrong', fault: /^[-\u2212]\s*\d/.test(text) ? 'negative' : 'unreadable' };
  const [, before = '', sign = '', after = ''] = /^(.*)([.,\u066b])(\d+)$/.exec(number) ?? [];
  const [allDigits, wholeDigits] = [
    withoutGroups(number),
    before.includes(sign) ? undefined : withoutGroups(before),
  ];
  const thousands = amountOf(style, allDigits, '');
  const parts = amountOf(style, wholeDigits, after);
  const isGroup = sign === style.group;
  // The language's group separator before too many digits for a decimal separator.
  const isMisplaced = thousands === undefined && isGroup && after.length > 2 && !/^0+$/.test(before);
  const meant = isMisplaced ? amountOf(style, (before + after).replace(/\D/g, ''), '') : thousands;
  if (meant !== undefined && parts !== undefined && (isMisplaced || !isGroup))
    return { kind: 'unclear', readings: [meant, parts] };
  const amount = thousands ?? parts;
  if (amount !== undefined) return { kind: 'amount', amount };
  return {
    kind: 'wrong',
    fault: faultOf(style, allDigits ?? wholeDigits, allDigits === undefined ? after : ''),
  };
}

/** Digits without group separators; undefined where separators are misplaced or of two kinds. */
function withoutGroups(text: string): string | undefined {
  if (/^\d+$/.test(text)) return text;
  return /^[1-9]\d{0,2}([.,\s'’\u066c])\d{3}(?:\1\d{3})*$/.test(text) ? text.replace(/\D/g, '') : undefined;
}

function amountOf(
  { maxWholeDigits }: AmountStyle,
  whole: string | undefined,
  part: string,
): bigint | undefined {
  if (whole === undefined || whole.length > maxWholeDigits || part.length > maxPartDigits) return undefined;
  const amount = BigInt(whole) * 1_000_000n + BigInt(part.padEnd(maxPartDigits, '0'));
  return amount > 0n ? amount : undefined;
}

function faultOf({ maxWholeDigits }: AmountStyle, whole: string | undefined, part: string): AmountFault {
  if (whole === undefined) return 'unreadable';
  if (whole.length > maxWholeDigits) return 'too_large';
  return part.length > maxPartDigits ? 'too_precise' : 'zero';
}

/** Formats an amount as a person of the language can type it: `parseTypedAmount` reads the same amount back. */
export function writeTypedAmount(style: AmountStyle, microUsd: bigint): string {
  const digits = (microUsd % 1_000_000n).toString().padStart(6, '0').replace(/0+$/, '').padEnd(2, '0');
  // Three decimals would read as thousands.
  const part = digits.length === 3 ? `${digits}0` : digits;
  return `${groupDigits(style, (microUsd / 1_000_000n).toString())}${style.decimal}${part}`;
}

/**
 * Inserts group separators. Digits with leading zeros stay unchanged, because `parseTypedAmount` would not read them with
 * separators.
 */
export function groupDigits({ group }: AmountStyle, whole: string): string {
  if (whole.startsWith('0')) return whole;
  return whole.replace(/\B(?=(?:\d{3})+$)/g, group);
}
