import type { CheckoutOption, CheckoutState } from '@florin/protocol/checkout-state.ts';
import type { Texts } from '../text/en.ts';

const microUsdOfCent = 10_000n;

type Decimal = `${number}`;

/** Inserts values into a text: `{name}` becomes the value of that name. */
export function fill(text: string, values: Readonly<Record<string, string>> = {}): string {
  return text.replace(/\{(\w+)\}/g, (place, name: string) => values[name] ?? place);
}

/** Formats an integer of smallest units as an exact decimal, with at least two decimals. No token has fewer than six. */
export function toDecimal(units: bigint, decimals: number): string {
  const text = units.toString().padStart(decimals + 1, '0');
  const fraction = text.slice(-decimals).replace(/0+$/, '');
  return `${text.slice(0, -decimals)}.${fraction.padEnd(2, '0')}`;
}

/** Formats Micro-USD as money in the reader's locale; exact. */
export function formatMoney(locale: string, microUsd: string): string {
  return isolate(locale, formatUnits(locale, microUsd, 6, { style: 'currency', currency: 'USD' }));
}

export function formatUnits(
  locale: string,
  units: string,
  decimals: number,
  options?: Intl.NumberFormatOptions,
): string {
  const format = new Intl.NumberFormat(locale, {
    minimumFractionDigits: 2,
    maximumFractionDigits: decimals,
    ...options,
  });
  return format.format(toDecimal(BigInt(units), decimals) as Decimal);
}

/** Formats a range of prices. A least price below a cent says nothing to readers, unless they chose less than that. */
export function formatRange(
  { locale, texts }: { readonly locale: string; readonly texts: Pick<Texts, 'upTo'> },
  { least, most }: { readonly least: bigint; readonly most: bigint },
  chosen = least,
): string {
  const amount = formatMoney(locale, `${most}`);
  if (least < microUsdOfCent && chosen >= least) return fill(texts.upTo, { amount });
  return `${formatMoney(locale, `${least}`)} – ${amount}`;
}

/** Formats a token amount in the reader's locale; exact. Number and token stay on one line. */
export function formatToken(
  locale: string,
  token: { readonly symbol: string; readonly decimals: number },
  units: string,
): string {
  return isolate(locale, `${formatUnits(locale, units, token.decimals)}\u00a0${token.symbol}`);
}

/** A token with its network, in words. */
export function nameOfToken(
  { tokenOnNetwork }: Pick<Texts, 'tokenOnNetwork'>,
  { symbol, chainTitle }: Pick<CheckoutOption, 'symbol' | 'chainTitle'>,
): string {
  return fill(tokenOnNetwork, { token: symbol, network: chainTitle });
}

/** What the payer pays in a token. */
export function formatPrice(
  locale: string,
  option: Pick<CheckoutOption, 'symbol' | 'decimals' | 'amountInToken'>,
): string {
  return formatToken(locale, option, option.amountInToken);
}

/** Keeps Latin text together within text of the other direction. */
function isolate(locale: string, text: string): string {
  // Without its own marks, which would move the currency sign.
  return locale === 'ar' ? `\u2066${text.replace(/[\u200e\u200f]/g, '')}\u2069` : text;
}

/** Formats a time in the reader's locale, with its zone: the reader's own where none is given. */
export function formatTime(locale: string, iso: string, timeZone?: string): string {
  return new Intl.DateTimeFormat(locale, {
    year: 'numeric',
    month: 'short',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    timeZone,
    timeZoneName: 'short',
  }).format(new Date(iso));
}

/** A length of time in words: seconds, or whole minutes from 90 seconds on. */
export function formatDuration(locale: string, seconds: number): string {
  const isShort = seconds < 90;
  return new Intl.NumberFormat(locale, {
    style: 'unit',
    unit: isShort ? 'second' : 'minute',
    unitDisplay: 'long',
  }).format(isShort ? seconds : Math.round(seconds / 60));
}

/** A time to wait in words, rounded up: who comes back sooner is refused again. */
export function formatWait(locale: string, seconds: number): string {
  return formatDuration(locale, seconds < 90 ? seconds : Math.ceil(seconds / 60) * 60);
}

/** A span of time as 12:34, 1:02:03 or 100:00:01. */
export function formatSpan(seconds: number): string {
  const minutes = new Date(seconds * 1_000).toISOString().slice(13, 19);
  return `${Math.floor(seconds / 3_600)}${minutes}`.replace(/^0:0?/, '');
}

/** An address short enough to compare at a glance. */
export function shorten(address: string): string {
  return `${address.slice(0, 6)}…${address.slice(-4)}`;
}

/** Why money that arrived paid nothing. */
export function reasonOf(
  texts: Pick<Texts, 'whyUnderpaid' | 'whyOverpaid' | 'whyLate' | 'whyWrongToken' | 'whyDuplicate'>,
  kind: CheckoutState['exceptions'][number]['kind'],
): string {
  return {
    underpaid: texts.whyUnderpaid,
    overpaid: texts.whyOverpaid,
    late: texts.whyLate,
    wrong_token: texts.whyWrongToken,
    duplicate: texts.whyDuplicate,
  }[kind];
}
