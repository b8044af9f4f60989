import type { Usd } from './amount.ts';
import { FlorinError } from './error.ts';

const microUsdPerDollar = 1_000_000n;
/** The largest price and total: ten million dollars. */
const maxMicroUsd = 10_000_000_000_000n;

/**
 * Micro-USD of an amount in US dollars, exactly. Takes a decimal text with at most six digits after the point, and nothing
 * else: a number would already have been rounded.
 *
 * @example usd('4.50') // 4500000
 */
export function usd(dollars: string): Usd {
  const parts = typeof dollars === 'string' ? /^(0|[1-9][0-9]{0,7})(?:\.([0-9]{1,6}))?$/.exec(dollars) : null;
  const [, whole = '', fraction = ''] = parts ?? [];
  const amount = BigInt(whole) * microUsdPerDollar + BigInt(fraction.padEnd(6, '0'));
  if (parts === null || amount > maxMicroUsd)
    throw new FlorinError(
      'argument_invalid',
      `usd() takes a text such as '4.50', up to '10000000', not ${JSON.stringify(dollars)}`,
    );
  return Number(amount) as Usd;
}

/**
 * An amount that is in Micro-USD already, as a program computed or stored it. Takes a whole number up to ten million dollars.
 *
 * @example microUsd(4_500_000) // usd('4.50')
 */
export function microUsd(amount: number): Usd {
  if (!Number.isSafeInteger(amount) || amount < 0 || amount > maxMicroUsd)
    throw new FlorinError('argument_invalid', `microUsd() takes a whole number of Micro-USD, not ${amount}`);
  return amount as Usd;
}

/**
 * The US dollars of an amount in Micro-USD, with two decimals or as many as it needs.
 *
 * @example formatUsd(4_500_000) // '4.50'
 */
export function formatUsd(microUsd: number): string {
  if (!Number.isSafeInteger(microUsd) || microUsd < 0)
    throw new FlorinError(
      'argument_invalid',
      `formatUsd() takes a whole number of Micro-USD, not ${microUsd}`,
    );
  const amount = BigInt(microUsd);
  const fraction = (amount % microUsdPerDollar)
    .toString()
    .padStart(6, '0')
    .replace(/0{1,4}$/, '');
  return `${amount / microUsdPerDollar}.${fraction}`;
}
