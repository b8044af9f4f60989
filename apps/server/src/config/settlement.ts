import { microUsd } from '@florin/protocol/money.ts';
import { type SettlementMode, settlementModes } from '@florin/protocol/order.ts';
import type { OutflowCaps, SettlementSettings } from '#settlement/context.ts';
import { ConfigError, type Fields } from './field.ts';

/** How paid orders are settled; see docs/runbook/settlement.md. */
export interface SettlementConfig extends SettlementSettings {
  /** For accounts without a mode of their own. */
  readonly mode: SettlementMode;
  readonly reclaimAfterSeconds: number;
  readonly maxFeePerGasGwei: number;
}

/** A payout that waits so long for a vault's caps is served before younger ones. */
const keepAfterSeconds = 1_800;

/** Reads `settlement`. */
export function settlementOf(fields: Fields): SettlementConfig {
  const settlement: SettlementConfig = {
    mode: fields.choice('mode', settlementModes, 'escrow'),
    batchSize: fields.integer('batchSize', { least: 1, most: 50, fallback: 50 }),
    windowMs: fields.integer('windowMs', { least: 50, most: 3_600_000, fallback: 2_000 }),
    windowSeconds: fields.integer('windowSeconds', { least: 0, most: 86_400, fallback: 0 }),
    notMinedAfterSeconds: fields.integer('notMinedAfterSeconds', { least: 10, most: 86_400, fallback: 600 }),
    // A day is the least that leaves time for a halted chain or a slow operator.
    reclaimAfterSeconds: fields.integer('reclaimAfterSeconds', {
      least: 86_400,
      most: 31_536_000,
      fallback: 604_800,
    }),
    maxFeePerGasGwei: fields.integer('maxFeePerGasGwei', { least: 1, most: 100_000, fallback: 500 }),
    keepAfterSeconds,
    maxBaseFeeGwei: fields.optional('maxBaseFeeGwei', (name) =>
      fields.integer(name, { least: 1, most: 100_000 }),
    ),
    outflow: fields.optional('outflow', (name) => fields.section(name, outflowOf)),
  };
  // With a window as long as the time to reclaim, the payer could reclaim before anything is settled.
  if (settlement.windowSeconds * 2 > settlement.reclaimAfterSeconds)
    throw new ConfigError(
      'settlement.windowSeconds is over half of settlement.reclaimAfterSeconds: make it smaller',
    );
  return settlement;
}

const microUsdPerUsd = 1_000_000n;

function outflowOf(fields: Fields): OutflowCaps {
  const usd = (name: string) =>
    microUsd(BigInt(fields.integer(name, { least: 1, most: 10_000_000 })) * microUsdPerUsd);
  return { perOrder: usd('perOrderUsd'), hourly: usd('hourlyUsd'), daily: usd('dailyUsd') };
}
