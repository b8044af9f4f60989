import type { Chain } from '#chains/chain.ts';
import type { SettlementContext } from './context.ts';
import { payoutsSince } from './leg.sql.ts';

/** How much has flown out of a chain's vaults, as payouts are chosen. */
export interface Outflow {
  /** The cap that this payout would go over, by its name; undefined when it stays within all. */
  excessOf(value: bigint): 'order' | 'hourly' | 'daily' | undefined;
  add(value: bigint): void;
}

const hourMs = 3_600_000;

/** Reads what has flown out in the last hour and day. Without caps nothing is over them. */
export async function openOutflow(deps: SettlementContext, chain: Chain): Promise<Outflow> {
  const caps = deps.settings.outflow;
  if (caps === undefined) return { excessOf: () => undefined, add: () => {} };
  const nowMs = deps.clock.now().getTime();
  const since = async (ms: number) => {
    const [row] = await deps.db.query(payoutsSince, { chainId: chain.chainId, since: new Date(nowMs - ms) });
    return row?.net_value ?? 0n;
  };
  let inHour = await since(hourMs);
  let inDay = await since(24 * hourMs);
  return {
    excessOf(value) {
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
