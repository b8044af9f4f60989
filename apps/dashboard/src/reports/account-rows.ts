import type { ReplyTo } from '../api/call.ts';
import { exactDigits } from '../ui/format.ts';

type Sums = ReplyTo<'POST /report/sums'>['sums'];

/** What moved in one period, account and token; Micro-USD. */
export interface AccountSum {
  readonly period: number;
  readonly accountId: string;
  readonly accountName: string;
  readonly tokenId: string;
  readonly payments: number;
  readonly received: bigint;
  readonly settlements: number;
  /** Of what was settled. */
  readonly fees: bigint;
  readonly settled: bigint;
  readonly refunds: number;
  readonly refunded: bigint;
}

const noSums = { payments: 0, received: 0n, settlements: 0, fees: 0n, settled: 0n, refunds: 0, refunded: 0n };

/** The sums of each period, account and token side by side, in the service's order. */
export function accountRows(sums: Sums): AccountSum[] {
  const rows = new Map<string, AccountSum>();
  for (const sum of sums) {
    const { period, accountId, accountName, tokenId } = sum;
    const key = [period, accountId, tokenId].join(' ');
    const row = rows.get(key) ?? { period, accountId, accountName, tokenId, ...noSums };
    rows.set(key, { ...row, ...partOf(sum) });
  }
  return [...rows.values()];
}

function partOf({ kind, count, totalValue, feeValue, netValue }: Sums[number]): Partial<AccountSum> {
  if (kind === 'received') return { payments: count, received: BigInt(totalValue) };
  if (kind === 'refunded') return { refunds: count, refunded: BigInt(totalValue) };
  return { settlements: count, fees: BigInt(feeValue), settled: BigInt(netValue) };
}

/** All rows in one. */
export function totalOfRows(rows: readonly AccountSum[]) {
  return rows.reduce(
    (total, row) => ({
      payments: total.payments + row.payments,
      received: total.received + row.received,
      settlements: total.settlements + row.settlements,
      fees: total.fees + row.fees,
      settled: total.settled + row.settled,
      refunds: total.refunds + row.refunds,
      refunded: total.refunded + row.refunded,
    }),
    noSums,
  );
}

/** The most digits after the point of a column's amounts. */
export function mostDigits(amounts: readonly (bigint | number)[]): number {
  return Math.max(2, ...amounts.map(exactDigits));
}
