import { isoTimestamp } from '@florin/protocol/timestamp.ts';

/** What a person reads: amounts, times and ids. Pure, so that tests need no browser. */

const microDigits = 6;
const microsPerCent = 10_000n;

/** A number of the smallest unit as a decimal text without loss, as `12.5`. */
export function exactDecimal(units: bigint | number | string, decimals: number): string {
  const value = BigInt(units);
  const digits = (value < 0n ? -value : value).toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  return `${value < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}

/**
 * The locales of one reader. Sentences are English, so words, months and relative times are too. Numbers have the reader's
 * separators, and dates the order of the reader's region, both in Latin digits.
 */
function localesOf(language: string): { readonly numbers: string; readonly dates: string } {
  const numbers = new Intl.Locale(language, { numberingSystem: 'latn' }).toString();
  const english = `en-${new Intl.Locale(language).maximize().region ?? 'US'}`;
  // Where English has no custom of the region's own, that of the world: day, month, year.
  const isKnown = new Intl.DateTimeFormat(english).resolvedOptions().locale === english;
  return { numbers, dates: isKnown ? english : 'en-001' };
}

/**
 * Makes each format once. To make one takes longer than to draw a row of a list; those of the times alone took the larger
 * part of drawing a page of payments.
 */
function madeOnce<Options, Format>(make: (locale: string, options: Options) => Format) {
  const formats = new Map<string, Format>();
  return (locale: string, options: Options): Format => {
    const key = `${locale} ${JSON.stringify(options)}`;
    const format = formats.get(key) ?? make(locale, options);
    formats.set(key, format);
    return format;
  };
}

const numberFormat = madeOnce(
  (locale, options: Intl.NumberFormatOptions) => new Intl.NumberFormat(locale, options),
);
const dateFormat = madeOnce(
  (locale, options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(locale, options),
);
const relativeFormat = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

const readers = localesOf(new Intl.NumberFormat().resolvedOptions().locale);

/** For `Intl.NumberFormat`: the reader's separators, in Latin digits. */
function numberLocale(language?: string): string {
  return language === undefined ? readers.numbers : localesOf(language).numbers;
}

/** For `Intl.DateTimeFormat`: English words, in the order of the reader's region. */
export function dateLocale(language?: string): string {
  return language === undefined ? readers.dates : localesOf(language).dates;
}

/** Formats a number, or a decimal text without going through a float, with the reader's separators. */
export function formatNumber(
  number: bigint | number | string,
  options: Intl.NumberFormatOptions = {},
  locale?: string,
): string {
  const format = numberFormat(numberLocale(locale), options);
  // Marks of direction would move the currency sign within an English sentence.
  return format.format(number as Intl.StringNumericLiteral).replace(/[\u200e\u200f\u061c]/g, '');
}

/** Millionths as `0.2 %`, with the reader's separators. */
export function formatPpm(ppm: number, locale?: string): string {
  return `${formatNumber(ppm / 10_000, { maximumFractionDigits: 4 }, locale)} %`;
}

/** Micro-USD as dollars with every digit that is not zero, two at least: `$1,234.50`, `$37.111109`. */
export function formatUsd(microUsd: bigint | number | string, locale?: string): string {
  const options = {
    style: 'currency',
    currency: 'USD',
    currencyDisplay: 'narrowSymbol',
    minimumFractionDigits: 2,
    maximumFractionDigits: microDigits,
  } as const;
  return formatNumber(exactDecimal(microUsd, microDigits), options, locale);
}

/**
 * Micro-USD as dollars and whole cents for a figure at a glance, rounded: `$128,999.31`. Less than a cent keeps its digits.
 * Half a cent goes down, or up with `isHalfUp`: of two amounts that are whole cents together, give it to one, and they still
 * add up. Show the exact amount on hover.
 */
export function formatCents(
  microUsd: bigint | number | string,
  { isHalfUp = false, locale }: { readonly isHalfUp?: boolean; readonly locale?: string } = {},
): string {
  const value = BigInt(microUsd);
  const size = value < 0n ? -value : value;
  if (size < microsPerCent) return formatUsd(value, locale);
  const half = microsPerCent / 2n;
  const cents = (size + (isHalfUp ? half : half - 1n)) / microsPerCent;
  return formatUsd((value < 0n ? -cents : cents) * microsPerCent, locale);
}

/** How many digits the exact amount has after the point: two at least. */
export function exactDigits(microUsd: bigint | number | string): number {
  return Math.max(2, exactDecimal(microUsd, microDigits).split('.')[1]?.length ?? 0);
}

/** The exact amount for a tooltip, as `1234.500001 USD`. */
export function exactUsd(microUsd: bigint | number | string): string {
  return `${exactDecimal(microUsd, microDigits)} USD`;
}

/** A token's amount from its smallest units with every digit that is not zero, two at least: `1,234.50 USDC`. */
export function formatToken(
  units: bigint | number | string,
  { decimals, symbol }: { readonly decimals: number; readonly symbol: string },
  locale?: string,
): string {
  const options = { minimumFractionDigits: Math.min(2, decimals), maximumFractionDigits: decimals };
  return `${formatNumber(exactDecimal(units, decimals), options, locale)} ${symbol}`;
}

/** `0x1234…abcd`. */
export function shortAddress(address: string): string {
  return address.length <= 13 ? address : `${address.slice(0, 6)}…${address.slice(-4)}`;
}

/** An id with its kind and its end, as `ses_…k3Tq`. */
export function shortId(id: string): string {
  const kind = id.slice(0, id.indexOf('_') + 1);
  return id.length <= kind.length + 9 ? id : `${kind}…${id.slice(-6)}`;
}

/**
 * A time of the API: RFC 3339, `YYYY-MM-DD HH:MM:SS` in UTC, or Unix seconds. Undefined for an empty text.
 */
export function parseTime(time: string | number): Date | undefined {
  if (typeof time === 'number') return new Date(time * 1_000);
  if (time === '') return undefined;
  const parsed = new Date(time.includes('T') ? time : isoTimestamp(time));
  return Number.isNaN(parsed.getTime()) ? undefined : parsed;
}

const steps = [
  { unit: 'second', seconds: 1, below: 60 },
  { unit: 'minute', seconds: 60, below: 3_600 },
  { unit: 'hour', seconds: 3_600, below: 86_400 },
  { unit: 'day', seconds: 86_400, below: 604_800 },
] as const;

/** `5 minutes ago`, `in 2 days`; from a week on the date. `isAhead`: what is planned for the time may not have happened yet. */
export function formatRelative(
  time: Date,
  now: Date,
  { isAhead = false, locale }: { readonly isAhead?: boolean; readonly locale?: string } = {},
): string {
  const seconds = Math.round((time.getTime() - now.getTime()) / 1_000);
  const step = steps.find(({ below }) => Math.abs(seconds) < below);
  if (step === undefined) return formatDate(time, now, locale);
  if (Math.abs(seconds) < 10) return isAhead ? 'in a moment' : 'just now';
  const count = Math.trunc(seconds / step.seconds);
  return relativeFormat.format(count, step.unit);
}

/** `3 Nov` or `Nov 3`, with the year when it is another one. */
export function formatDate(time: Date, now: Date, locale?: string): string {
  const isThisYear = time.getFullYear() === now.getFullYear();
  return dateFormat(dateLocale(locale), {
    day: 'numeric',
    month: 'short',
    ...(isThisYear ? {} : { year: 'numeric' }),
  }).format(time);
}

/** `Nov 3, 10:15 PM`, with the year when it is another one. */
export function formatMoment(time: Date, now: Date, locale?: string): string {
  const isThisYear = time.getFullYear() === now.getFullYear();
  return dateFormat(dateLocale(locale), {
    day: 'numeric',
    month: 'short',
    hour: 'numeric',
    minute: '2-digit',
    ...(isThisYear ? {} : { year: 'numeric' }),
  }).format(time);
}

/** The whole time with its zone, for a tooltip. */
export function exactTime(time: Date, locale?: string): string {
  return dateFormat(dateLocale(locale), { dateStyle: 'medium', timeStyle: 'long' }).format(time);
}
