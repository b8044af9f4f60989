import type { Chain } from '#chains/chain.ts';
import type { OutflowCaps, SettlementContext } from './context.ts';
import { payoutsSince } from './leg.sql.ts';

export type ExceededCap = 'order' | 'hourly' | 'daily';

/** Counts what a chain's vaults pay out, in Micro-USD. */
export interface Outflow {
  /** The first of the operator's caps that a payout would exceed; undefined when it exceeds none. */
  excessOf(value: bigint): ExceededCap | undefined;
  add(value: bigint): void;
}

/** Counts from what vaults have paid out in the last hour and the last day. Without caps nothing exceeds them. */
export function outflowWithin(
  caps: OutflowCaps | undefined,
  paid: { readonly inHour: bigint; readonly inDay: bigint },
): Outflow {
  let { inHour, inDay } = paid;
  return {
    excessOf(value) {
      if (caps === undefined) return undefined;
      if (value > caps.perOrder) return 'order';
      if (inHour + value > caps.hourly) return 'hourly';
      return inDay + value > caps.daily ? 'daily' : undefined;
    },
    add(value) {
      inHour += value;
      inDay += value;
    },
  };
}

const hourMs = 3_600_000;

/** Reads what the chain's vaults have paid out. */
export async function openOutflow(
  { db, clock, settings }: SettlementContext,
  { chainId }: Chain,
): Promise<Outflow> {
  if (settings.outflow === undefined) return outflowWithin(undefined, { inHour: 0n, inDay: 0n });
  const nowMs = clock.now().getTime();
  const paidWithin = async (ms: number) => {
    const [row] = await db.query(payoutsSince, { chainId, since: new Date(nowMs - ms) });
    return row?.net_value ?? 0n;
  };
  const inHour = await paidWithin(hourMs);
  return outflowWithin(settings.outflow, { inHour, inDay: await paidWithin(24 * hourMs) });
}
