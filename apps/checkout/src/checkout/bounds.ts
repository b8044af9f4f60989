import type { CheckoutOption } from '@florin/protocol/checkout-api.ts';
import { parseUsd } from '@florin/protocol/money.ts';
import { formatRange } from './format.ts';

type Bounds = Pick<CheckoutOption, 'minAmountInUSD' | 'maxAmountInUSD'>;

/** The lowest and highest price, in Micro-USD; undefined where the payer cannot choose. */
export function boundsOf({ minAmountInUSD, maxAmountInUSD }: Bounds) {
  const [least, most] = [parseUsd(minAmountInUSD ?? ''), parseUsd(maxAmountInUSD ?? '')];
  return least === undefined || most === undefined ? undefined : { least, most };
}

/** The range that the payer may choose from, in words; empty where there is no choice. */
export function boundsText(locale: string, given: Bounds): string {
  const bounds = boundsOf(given);
  return bounds === undefined ? '' : formatRange(locale, bounds);
}
