import { microUsd } from '@florin/protocol/money.ts';
import type { GaslessSettings } from '#service/options.ts';
import { ConfigError } from './setting.ts';
import type { Settings } from './settings.ts';

/** Addresses that a node is asked about by name; with more open orders, all transfers of the tokens are read. */
const mostNamed = 1_000;

/** The settings of `gasless`; undefined when it is off. */
export function gaslessOf(settings: Settings['gasless']): GaslessSettings | undefined {
  refuseOneForAll(settings, 'gasPerMerchantPerDay', 'gasPerDay');
  refuseOneForAll(settings, 'gasForReturnsPerMerchantPerDay', 'gasForReturnsPerDay');
  if (!settings.enabled) return undefined;
  const { deposits, relayer, depositWindowMs, balanceWindowMs, x402WaitMs } = settings;
  return {
    ...{ relayer, depositWindowMs, balanceWindowMs, x402WaitMs, mostNamed },
    minAmount: microUsdOf(settings.minAmount),
    budgets: {
      perPayer: settings.gasPerPayerPerDay,
      perLink: settings.gasPerLinkPerDay,
      perNetwork: settings.gasPerNetworkPerDay,
      smartAccounts: {
        perPayment: settings.gasPerSmartAccountPayment,
        failuresPerMerchant: settings.smartAccountFailuresPerMerchantPerDay,
      },
    },
    depositBudgets: {
      collections: settings.gasForCollectionsPerLinkPerDay,
      returns: settings.gasForReturnsPerLinkPerDay,
    },
    totals: {
      payments: { perMerchant: settings.gasPerMerchantPerDay, all: settings.gasPerDay },
      returns: { perMerchant: settings.gasForReturnsPerMerchantPerDay, all: settings.gasForReturnsPerDay },
    },
    deposits: {
      ...deposits,
      underpaidAmount:
        deposits.underpaidAmount === undefined ? undefined : microUsdOf(deposits.underpaidAmount),
      addedAboveFee: microUsdOf(deposits.addedAboveFee),
      addedPerDay: microUsdOf(deposits.addedPerDay),
    },
  };
}

function microUsdOf(amount: number) {
  return microUsd(BigInt(amount));
}

type Budget = Extract<keyof Settings['gasless'], `gas${string}PerDay`>;

/** Refuses a per-merchant limit with which one merchant could use up the total. */
function refuseOneForAll(settings: Settings['gasless'], one: Budget, all: Budget): void {
  if (settings[all] > 0 && settings[one] * 2 > settings[all])
    throw new ConfigError(
      `gasless.${one} is over half of gasless.${all}: one merchant must not use the budget of all`,
    );
}
