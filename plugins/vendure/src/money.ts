import type { ConfigService } from '@vendure/core';

/** Micro-USD of one unit of the shop's money: 10,000 of a cent. */
export function microUsdPerUnit(config: ConfigService): number {
  const { precision = 2 } = config.entityOptions.moneyStrategy;
  if (precision > 6)
    throw new Error('a shop whose prices have more than six decimals cannot take stablecoins');
  return 10 ** (6 - precision);
}
