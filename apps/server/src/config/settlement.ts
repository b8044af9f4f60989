import { microUsd } from '@florin/protocol/money.ts';
import { settlementModes } from '@florin/protocol/order.ts';
import type { ServiceSettings } from '#service/options.ts';
import type { OutflowCaps } from '#settlement/context.ts';
import type { Fields } from './field.ts';

/** A payout that waits so long for a vault's caps is served before younger ones. */
const keepAfterSeconds = 1_800;

/** Reads `settlement`: how paid orders are settled; see docs/runbook/settlement.md. */
export function settlementOf(fields: Fields): ServiceSettings['settlement'] {
  return {
    mode: fields.choice('mode', settlementModes, 'escrow'),
    batchSize: fields.integer('batchSize', { least: 1, most: 50, fallback: 50 }),
    windowMs: fields.integer('windowMs', { least: 50, most: 3_600_000, fallback: 2_000 }),
    windowSeconds: fields.integer('windowSeconds', { least: 0, most: 86_400, fallback: 0 }),
    notMinedAfterSeconds: fields.integer('notMinedAfterSeconds', { least: 10, most: 86_400, fallback: 600 }),
    // The gateway wants two days at least, and 120 days at most from the payment. A session lasts up to 30 days of these,
    // and late deposits are taken for another seven.
    reclaimAfterSeconds: fields.optional('reclaimAfterSeconds', (name) =>
      fields.integer(name, { least: 172_800, most: 7_171_200 }),
    ),
    maxFeePerGasGwei: fields.integer('maxFeePerGasGwei', { least: 1, most: 100_000, fallback: 500 }),
    keepAfterSeconds,
    maxBaseFeeGwei: fields.optional('maxBaseFeeGwei', (name) =>
      fields.integer(name, { least: 1, most: 100_000 }),
    ),
    outflow: fields.optional('outflow', (name) => fields.section(name, outflowOf)),
  };
}

const microUsdPerUsd = 1_000_000n;

function outflowOf(fields: Fields): OutflowCaps {
  const usd = (name: string) =>
    microUsd(BigInt(fields.integer(name, { least: 1, most: 10_000_000 })) * microUsdPerUsd);
  return { perOrder: usd('perOrderUsd'), hourly: usd('hourlyUsd'), daily: usd('dailyUsd') };
}
