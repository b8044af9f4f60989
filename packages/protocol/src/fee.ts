import { type MicroUsd, microUsd } from './money.ts';

/** Parts per million of the price: 2000 is 0.2 %. An integer from 0 to 1_000_000. */
export type FeePpm = number;

/** 1: the merchant pays the fee. 2: the payer pays the fee on top. */
export type FeeModel = 1 | 2;

/** The four figures of one payment, in Micro-USD. Always feeValue = totalValue - netValue. */
export interface PaymentAmounts {
  /** The payer's total. */
  readonly totalValue: MicroUsd;
  /** The sum of the items: the session's amount. */
  readonly paymentValue: MicroUsd;
  readonly feeValue: MicroUsd;
  /** What the merchant receives. */
  readonly netValue: MicroUsd;
}

const million = 1_000_000n;

/** The fee on a price: `ceil(paymentValue * ppm / 1e6)`, rounded once, towards the fee. Refuses a ppm outside 0..1e6. */
export function feeOf(paymentValue: MicroUsd, ppm: FeePpm): MicroUsd {
  if (!Number.isInteger(ppm) || ppm < 0 || ppm > 1_000_000)
    throw new RangeError(`fee ppm out of range: ${ppm}`);
  return microUsd((paymentValue * BigInt(ppm) + million - 1n) / million);
}

/** Splits a price into the payer's total, the fee and the merchant's amount, for the given fee model. */
export function amountsOf(paymentValue: MicroUsd, ppm: FeePpm, feeModel: FeeModel): PaymentAmounts {
  const feeValue = feeOf(paymentValue, ppm);
  return feeModel === 1
    ? { totalValue: paymentValue, paymentValue, feeValue, netValue: microUsd(paymentValue - feeValue) }
    : { totalValue: microUsd(paymentValue + feeValue), paymentValue, feeValue, netValue: paymentValue };
}

/**
 * The least price that leaves the merchant a positive amount: `ceil(1e6 / (1e6 - ppm))` with fee model 1, one Micro-USD
 * with fee model 2. Undefined where the fee takes everything (1e6 ppm with fee model 1).
 */
export function leastPriceOf(ppm: FeePpm, feeModel: FeeModel): MicroUsd | undefined {
  if (feeModel === 2) return microUsd(1n);
  const rest = million - BigInt(ppm);
  return rest === 0n ? undefined : microUsd((million + rest - 1n) / rest);
}

/**
 * Splits a total that the payer chose (custom links): with fee model 2 the price is
 * `floor(total * 1e6 / (1e6 + ppm))` and the fee is the rest.
 */
export function amountsOfTotal(totalValue: MicroUsd, ppm: FeePpm, feeModel: FeeModel): PaymentAmounts {
  if (feeModel === 1) return amountsOf(totalValue, ppm, 1);
  const paymentValue = microUsd((totalValue * million) / (million + BigInt(ppm)));
  return { totalValue, paymentValue, feeValue: microUsd(totalValue - paymentValue), netValue: paymentValue };
}

/**
 * How far below a total a payment still counts: `floor(totalValue * ppm / 1e6)`, rounded once, towards the full
 * payment; the smallest of it and the limits. Refuses a ppm outside 0..1e6.
 */
export function toleranceOf(totalValue: MicroUsd, ppm: FeePpm, limits: readonly MicroUsd[]): MicroUsd {
  if (!Number.isInteger(ppm) || ppm < 0 || ppm > 1_000_000)
    throw new RangeError(`tolerance ppm out of range: ${ppm}`);
  const share = microUsd((totalValue * BigInt(ppm)) / million);
  let least = share;
  for (const limit of limits) if (limit < least) least = limit;
  return least;
}
