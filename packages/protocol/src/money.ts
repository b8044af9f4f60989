/**
 * Exact money. Inside Florin every amount is a branded bigint, built only by the constructors below, so that Micro-USD
 * and token units cannot be mixed and no amount is ever a float.
 */

declare const microUsdBrand: unique symbol;
declare const tokenAmountBrand: unique symbol;

/** Millionths of one US dollar (1_000_000 = one dollar). Never negative. */
export type MicroUsd = bigint & { readonly [microUsdBrand]: true };

/** Smallest units of one token, as the token contract counts them. Never negative. */
export type TokenAmount = bigint & { readonly [tokenAmountBrand]: true };

/** The largest price, item total and session total: ten million dollars, in Micro-USD. */
export const maxMicroUsd = 10_000_000_000_000n;

/** Tokens with fewer decimals than Micro-USD cannot represent every price, and are refused. */
export const minTokenDecimals = 6;

/** The most decimals of a configured token: 10^12 units of a Micro-USD still fit any price. */
export const maxTokenDecimals = 18;

/** Makes a Micro-USD amount. Refuses negative values with a RangeError. */
export function microUsd(value: bigint | number): MicroUsd {
  const amount = BigInt(value);
  if (amount < 0n) throw new RangeError(`a Micro-USD amount is never negative: ${amount}`);
  return amount as MicroUsd;
}

/** Makes a token amount in smallest units. Refuses negative values with a RangeError. */
export function tokenAmount(value: bigint): TokenAmount {
  if (value < 0n) throw new RangeError(`a token amount is never negative: ${value}`);
  return value as TokenAmount;
}

/** Units of a token per Micro-USD: 1 for 6 decimals, 10^12 for 18. Refuses decimals outside 6..18. */
export function unitsPerMicroUsd(decimals: number): bigint {
  if (!Number.isInteger(decimals) || decimals < minTokenDecimals || decimals > maxTokenDecimals) {
    throw new RangeError(`token decimals must be an integer from 6 to 18: ${decimals}`);
  }
  return 10n ** BigInt(decimals - minTokenDecimals);
}

/** Converts Micro-USD to token units at par. Exact: no rounding. */
export function toTokenAmount(value: MicroUsd, decimals: number): TokenAmount {
  return tokenAmount(value * unitsPerMicroUsd(decimals));
}

/** Converts token units to Micro-USD at par; undefined when the amount is not a whole number of Micro-USD. */
export function toMicroUsd(value: TokenAmount, decimals: number): MicroUsd | undefined {
  const units = unitsPerMicroUsd(decimals);
  return value % units === 0n ? microUsd(value / units) : undefined;
}

/** A Micro-USD amount as a JSON number. Refuses amounts that a double cannot hold exactly. */
export function microUsdToNumber(value: MicroUsd): number {
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new RangeError(`amount beyond 2^53: ${value}`);
  return Number(value);
}

/** A Micro-USD amount as a decimal string in US dollars, at least two decimals: 1_500_000 is "1.50". */
export function formatUsd(value: MicroUsd): string {
  const whole = value / 1_000_000n;
  const fraction = (value % 1_000_000n)
    .toString()
    .padStart(6, '0')
    .replace(/0{1,4}$/, '');
  return `${whole}.${fraction}`;
}

/** Reads a decimal string in US dollars, up to ten billion and to the Micro-USD; undefined for anything else. */
export function parseUsd(text: string): MicroUsd | undefined {
  const parts = /^(0|[1-9][0-9]{0,9})(?:\.([0-9]{1,6}))?$/.exec(text);
  if (parts === null) return undefined;
  const [, whole = '', fraction = ''] = parts;
  return microUsd(BigInt(whole) * 1_000_000n + BigInt(fraction.padEnd(6, '0')));
}
