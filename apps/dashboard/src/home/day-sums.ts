import type { ReplyTo } from '../api/call.ts';

type PeriodSums = ReplyTo<'POST /summary/periods'>;

/** The bars of a chart: one for each day, of one part for each token. */
export interface DayBars {
  readonly tokenIds: readonly string[];
  /** Micro-USD of each day by token, in the order of `tokenIds`. */
  readonly days: readonly (readonly bigint[])[];
}

/** When each of the last days began here, today's last, and when today ends; Unix seconds. */
export function dayTimes(now: Date, days: number): number[] {
  return Array.from({ length: days + 1 }, (_, index) => {
    const midnight = new Date(now.getFullYear(), now.getMonth(), now.getDate() - days + 1 + index);
    return midnight.getTime() / 1_000;
  });
}

/** What came in or arrived on each of `count` days; the token with the most money first. */
export function dayBars(
  rows: readonly { readonly period: number; readonly tokenId: string; readonly value: string }[],
  count: number,
): DayBars {
  const totals = new Map<string, bigint>();
  for (const { tokenId, value } of rows) totals.set(tokenId, (totals.get(tokenId) ?? 0n) + BigInt(value));
  const tokenIds = [...totals].toSorted(([, left], [, right]) => (left < right ? 1 : -1)).map(([id]) => id);
  const days = Array.from({ length: count }, () => tokenIds.map(() => 0n));
  for (const { period, tokenId, value } of rows) {
    const day = days[period];
    if (day !== undefined) day[tokenIds.indexOf(tokenId)] = BigInt(value);
  }
  return { tokenIds, days };
}

export interface TokenSums {
  readonly tokenId: string;
  readonly received: bigint;
  readonly settled: bigint;
  readonly onItsWay: bigint;
}

/** What was received, settled and is on its way, by token. */
export function tokenSums(
  { received, settled }: PeriodSums,
  onItsWay: readonly { readonly tokenId: string; readonly netValue: string }[],
): TokenSums[] {
  const sumOf = <Row extends { readonly tokenId: string }>(
    rows: readonly Row[],
    tokenId: string,
    value: (row: Row) => string,
  ) => rows.reduce((sum, row) => (row.tokenId === tokenId ? sum + BigInt(value(row)) : sum), 0n);
  const tokenIds = new Set([...received, ...settled, ...onItsWay].map(({ tokenId }) => tokenId));
  return [...tokenIds].toSorted().map((tokenId) => ({
    tokenId,
    received: sumOf(received, tokenId, ({ totalValue }) => totalValue),
    settled: sumOf(settled, tokenId, ({ netValue }) => netValue),
    onItsWay: sumOf(onItsWay, tokenId, ({ netValue }) => netValue),
  }));
}
