/** The fees that an EIP-1559 transaction offers, in wei per gas. */
export interface Fees {
  readonly maxFee: bigint;
  readonly priorityFee: bigint;
}

/** The network's current prices, in wei per gas. */
export interface FeeMarket {
  readonly nextBaseFee: bigint;
  readonly tip: bigint;
}

/** The number of blocks whose priority fees count, and the percentile of each. */
export const feeHistoryBlocks = 10;
export const tipPercentile = 50;

/** The median of recent priority fees, at least the floor. */
export function tipOf(tips: readonly bigint[], floor: bigint): bigint {
  const sorted = tips.toSorted((first, second) => (first < second ? -1 : first > second ? 1 : 0));
  const middle = sorted[sorted.length >> 1] ?? 0n;
  return middle > floor ? middle : floor;
}

/** Fees that cover six full blocks in a row, under the cap. Each full block raises the base fee by an eighth. */
export function initialFees(market: FeeMarket, cap: bigint): Fees {
  const wanted = 2n * market.nextBaseFee + market.tip;
  const maxFee = wanted < cap ? wanted : cap;
  return { maxFee, priorityFee: market.tip < maxFee ? market.tip : maxFee };
}

/** Nodes replace a transaction only when both fees grow by 10 %, some by 12.5 %; rounded up. */
function raised(fee: bigint): bigint {
  return (fee * 1125n + 999n) / 1000n + 1n;
}

function larger(first: bigint, second: bigint): bigint {
  return first > second ? first : second;
}

/**
 * Whether blocks ask for more than an offer. A higher offer helps only then. On a stopped chain the offer would
 * otherwise grow without end.
 */
export function isOutbid(last: Fees, { nextBaseFee, tip }: FeeMarket): boolean {
  return last.maxFee < nextBaseFee + tip || last.priorityFee < tip;
}

/**
 * Fees for a replacement: at least 12.5 % over the last ones, and at least the market's. Undefined when the cap
 * allows no raise that nodes accept.
 */
export function raisedFees(last: Fees, market: FeeMarket, cap: bigint): Fees | undefined {
  const leastFee = raised(last.maxFee);
  const leastTip = raised(last.priorityFee);
  if (leastFee > cap || leastTip > cap) return undefined;
  const fresh = initialFees(market, cap);
  const maxFee = larger(leastFee, fresh.maxFee);
  return { maxFee: larger(maxFee, leastTip), priorityFee: larger(leastTip, fresh.priorityFee) };
}
