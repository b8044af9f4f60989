import type { Usd } from '@florin/sdk';
import { countOf, microUsdOf } from './body.ts';
import { repeatable } from './command.ts';
import { UsageError } from './command-error.ts';

/** The option for products of the merchant. */
export const productOption = repeatable(
  '--product <id>',
  'a product, with its price and number where they differ: prd_…, prd_…=4.50 or prd_…=4.50*2',
);

/** One line of a flag: what, for how much, and how many. */
export interface GivenItem {
  readonly what: string;
  /** Undefined without a price. */
  readonly price: Usd | undefined;
  readonly quantity: number;
}

/** As the service: a test asks both. */
const maxQuantity = 10_000;

/** Reads `what=price*number`; the price and the number may be left out. */
export function givenItemOf(option: string, given: string): GivenItem {
  const [, what = '', price, number] = /^(.+?)(?:=([^=*]+))?(?:\*([^=*]+))?$/.exec(given) ?? [];
  if (what === '' || what.includes('='))
    throw new UsageError(`--${option} is ${given}: give what=price*number, such as Tea=4.50*2`);
  return {
    what,
    price: price === undefined ? undefined : microUsdOf(option, price),
    quantity: number === undefined ? 1 : countOf(option, number, maxQuantity),
  };
}
