import type { ServiceSettings } from '#service/options.ts';
import { microUsdOfDollars } from './contracts.ts';
import type { Settings } from './settings.ts';

/** A payout that waits so long for a vault's caps is served before younger ones. */
const keepAfterSeconds = 1_800;

/** How paid orders are settled; see docs/runbook/settlement.md. */
export function settlementOf(settings: Settings['settlement']): ServiceSettings['settlement'] {
  const { outflow, reclaimAfterSeconds, maxBaseFeeGwei } = settings;
  return {
    ...settings,
    ...{ keepAfterSeconds, reclaimAfterSeconds, maxBaseFeeGwei },
    outflow: outflow && {
      perOrder: microUsdOfDollars(outflow.perOrderUsd),
      hourly: microUsdOfDollars(outflow.hourlyUsd),
      daily: microUsdOfDollars(outflow.dailyUsd),
    },
  };
}
