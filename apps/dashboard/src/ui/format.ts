/** What a person reads: amounts, times and ids, in the reader's locale. Pure, so that tests need no browser. */

const microDigits = 6;

/** A number of the smallest unit as a decimal text without loss, as `12.5`. */
export function exactDecimal(units: bigint | number | string, decimals: number): string {
  const value = BigInt(units);
  const digits = (value < 0n ? -value : value).toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  return `${value < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}

/** Formats a decimal text in the locale without going through a float. */
function localDecimal(
  decimal: string,
  locale: string | undefined,
  options: Intl.NumberFormatOptions,
): string {
  return new Intl.NumberFormat(locale, options).format(decimal as Intl.StringNumericLiteral);
}

/** Micro-USD as dollars and cents, as `$1,234.50`. Amounts below a cent keep their digits, so none reads as zero. */
export function formatUsd(microUsd: bigint | number | string, locale?: string): string {
  const value = BigInt(microUsd);
  const isTiny = value !== 0n && value > -10_000n && value < 10_000n;
  return localDecimal(exactDecimal(value, microDigits), locale, {
    style: 'currency',
    currency: 'USD',
    currencyDisplay: 'narrowSymbol',
    minimumFractionDigits: 2,
    maximumFractionDigits: isTiny ? microDigits : 2,
  });
}

/** Micro-USD as dollars with every digit, as `$1,234.500001`, for accounting. */
export function formatExactUsd(microUsd: bigint | number | string, locale?: string): string {
  return localDecimal(exactDecimal(microUsd, microDigits), locale, {
    style: 'currency',
    currency: 'USD',
    currencyDisplay: 'narrowSymbol',
    minimumFractionDigits: 2,
    maximumFractionDigits: microDigits,
  });
}

/** How many digits the exact amount has after the point: two at least. */
export function exactDigits(microUsd: bigint | number | string): number {
  return Math.max(2, exactDecimal(microUsd, microDigits).split('.')[1]?.length ?? 0);
}

/** The exact amount for a tooltip, as `1234.500001 USD`. */
export function exactUsd(microUsd: bigint | number | string): string {
  return `${exactDecimal(microUsd, microDigits)} USD`;
}

/** A token's amount in its smallest units, as `1,234.5 USDC`. */
export function formatToken(
  units: bigint | number | string,
  { decimals, symbol }: { readonly decimals: number; readonly symbol: string },
  locale?: string,
): string {
  const exact = exactDecimal(units, decimals);
  const isTiny = BigInt(units) !== 0n && /^-?0\.00/.test(exact);
  const options = { minimumFractionDigits: 2, maximumFractionDigits: isTiny ? decimals : 2 };
  return `${localDecimal(exact, locale, options)} ${symbol}`;
}

/** Micro-USD as a person types dollars, as `18.90`: what a field holds before anything is typed. */
export function typedUsd(microUsd: bigint | number): string {
  const [whole = '', fraction = ''] = exactDecimal(microUsd, microDigits).split('.');
  return `${whole}.${fraction.padEnd(2, '0')}`;
}

/** What a person types as dollars, as Micro-USD; undefined for anything else. `1,234.56` and `1234.56` are the same. */
export function parseUsd(typed: string): number | undefined {
  const plain = typed
    .trim()
    .replace(/^\$\s*/, '')
    .replaceAll(/(?<=\d),(?=\d{3}(\D|$))/g, '');
  const [, whole = '', fraction = ''] = /^(\d*)(?:\.(\d{0,6}))?$/.exec(plain) ?? [];
  if (whole === '' && fraction === '') return undefined;
  const micro = BigInt(`${whole === '' ? '0' : whole}${fraction.padEnd(microDigits, '0')}`);
  return micro <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(micro) : undefined;
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
  const parsed = new Date(time.includes('T') ? time : `${time.replace(' ', 'T')}Z`);
  return Number.isNaN(parsed.getTime()) ? undefined : parsed;
}

const steps = [
  { unit: 'second', seconds: 1, below: 60 },
  { unit: 'minute', seconds: 60, below: 3_600 },
  { unit: 'hour', seconds: 3_600, below: 86_400 },
  { unit: 'day', seconds: 86_400, below: 604_800 },
] as const;

/** `5 minutes ago`, `in 2 days`; from a week on the date. */
export function formatRelative(time: Date, now: Date, locale?: string): string {
  const seconds = Math.round((time.getTime() - now.getTime()) / 1_000);
  const step = steps.find(({ below }) => Math.abs(seconds) < below);
  if (step === undefined) return formatDate(time, now, locale);
  if (Math.abs(seconds) < 10) return 'just now';
  const count = Math.trunc(seconds / step.seconds);
  return new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }).format(count, step.unit);
}

/** `3 Nov`, with the year when it is another one. */
export function formatDate(time: Date, now: Date, locale?: string): string {
  const isThisYear = time.getFullYear() === now.getFullYear();
  return new Intl.DateTimeFormat(locale, {
    day: 'numeric',
    month: 'short',
    ...(isThisYear ? {} : { year: 'numeric' }),
  }).format(time);
}

/** `Nov 3, 10:15 PM`, with the year when it is another one. */
export function formatMoment(time: Date, now: Date, locale?: string): string {
  const isThisYear = time.getFullYear() === now.getFullYear();
  return new Intl.DateTimeFormat(locale, {
    day: 'numeric',
    month: 'short',
    hour: 'numeric',
    minute: '2-digit',
    ...(isThisYear ? {} : { year: 'numeric' }),
  }).format(time);
}

/** The whole time with its zone, for a tooltip. */
export function exactTime(time: Date, locale?: string): string {
  return new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'long' }).format(time);
}
