/** Figures of the operator's screens with their units. Pure, so that tests need no browser. */

import { formatNumber } from '../ui/format.ts';

/** How long: `8 s`, `3 min 20 s`, `2 h 5 min`, `4.2 days`, `3 years`; beyond a hundred years no number means anything. */
export function lastingText(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  if (whole < 600) return join([Math.floor(whole / 60), 'min'], [whole % 60, 's']);
  if (whole < 3_600) return `${Math.floor(whole / 60)} min`;
  if (whole < 86_400)
    return join([Math.floor(whole / 3_600), 'h'], [Math.floor((whole % 3_600) / 60), 'min']);
  const days = whole / 86_400;
  const shown = Number(days.toFixed(1));
  if (days < 10) return `${shown} ${shown === 1 ? 'day' : 'days'}`;
  if (days < 730) return `${Math.floor(days)} days`;
  return days < 36_500 ? `${Math.floor(days / 365)} years` : '100+ years';
}

function join(first: readonly [number, string], second: readonly [number, string]): string {
  return second[0] === 0 ? first.join(' ') : `${first.join(' ')} ${second.join(' ')}`;
}

/** Seconds from one time of the API to another; undefined when one is unknown. Never negative: clocks differ a little. */
export function secondsBetween(from: string, to: string): number | undefined {
  const seconds = (Date.parse(to) - Date.parse(from)) / 1_000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}

/** An integer of the API with the locale's separators; `unknown` for an empty one. */
export function integerText(integer: string | number, locale?: string): string {
  return integer === '' ? 'unknown' : formatNumber(integer, {}, locale);
}

/** Wei per gas as gwei, with three digits that count: `0.0123 gwei`. */
export function gweiText(wei: string, locale?: string): string {
  if (wei === '') return 'unknown';
  const gwei = Number(wei) / 1e9;
  return `${formatNumber(gwei, { maximumSignificantDigits: 3 }, locale)} gwei`;
}

/** Wei as native coins, with four digits that count; `unknown` for an empty text. */
export function coinsText(wei: string, locale?: string): string {
  if (wei === '') return 'unknown';
  return formatNumber(Number(wei) / 1e18, { maximumSignificantDigits: 4 }, locale);
}

/** `USDC` of `ethereum::usdc`. */
export function symbolOf(tokenId: string): string {
  return (tokenId.split('::')[1] ?? tokenId).toUpperCase();
}

/** `ethereum` of `ethereum::usdc`. */
export function chainOf(tokenId: string): string {
  return tokenId.split('::')[0] ?? '';
}
