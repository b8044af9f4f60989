import type { CheckoutOption } from '@florin/protocol/checkout-state.ts';
import { formatRange } from './format.ts';

type Bounds = Pick<CheckoutOption, 'least' | 'most'>;

/** The lowest and highest price, in Micro-USD; undefined where the payer cannot choose. */
export function boundsOf({ least, most }: Bounds) {
  return least === undefined || most === undefined ? undefined : { least: BigInt(least), most: BigInt(most) };
}

/** The range that the payer may choose from, in words; empty where there is no choice. */
export function boundsText(page: Parameters<typeof formatRange>[0], given: Bounds): string {
  const bounds = boundsOf(given);
  return bounds === undefined ? '' : formatRange(page, bounds);
}
