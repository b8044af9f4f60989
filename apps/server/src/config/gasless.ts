import { latePayments, maxLateHours, maxUnderpaidPpm } from '@florin/protocol/exception-policy.ts';
import { microUsd } from '@florin/protocol/money.ts';
import type { GasTotal } from '#merchants/relayed-gas.ts';
import type { DepositPolicy } from '#orders/context.ts';
import { type GaslessSettings, relayers } from '#service/options.ts';
import { ConfigError, type Fields } from './field.ts';

/** Addresses that a node is asked about by name; with more open orders, all transfers of the tokens are read. */
const mostNamed = 1_000;

/** Reads the section `gasless`; undefined when it is off. */
export function gaslessOf(fields: Fields): GaslessSettings | undefined {
  const isOn = fields.flag('enabled', true);
  // A payment by authorization takes about 130,000 gas, or 160,000 with the reserve of a fifth.
  const gas = (name: string, fallback: number) =>
    fields.integer(name, { least: 0, most: 1_000_000_000_000, fallback });
  const minAmount = fields.integer('minAmount', { least: 0, most: 1_000_000_000_000, fallback: 1_000_000 });
  const gasless = {
    minAmount: microUsd(BigInt(minAmount)),
    budgets: {
      perPayer: gas('gasPerPayerPerDay', 3_000_000),
      perLink: gas('gasPerLinkPerDay', 100_000_000),
      perNetwork: gas('gasPerNetworkPerDay', 20_000_000),
      smartAccounts: {
        // A payment takes about 130,000 gas, a passkey signature without a precompile 330,000 more, plus a fifth.
        perPayment: gas('gasPerSmartAccountPayment', 600_000),
        failuresPerMerchant: fields.integer('smartAccountFailuresPerMerchantPerDay', {
          ...{ least: 0, most: 1_000_000, fallback: 20 },
        }),
      },
    },
    // A collection takes about 130,000 gas, a return 70,000. The party that causes a return pays nothing for it.
    depositBudgets: {
      collections: gas('gasForCollectionsPerLinkPerDay', 1_000_000_000),
      returns: gas('gasForReturnsPerLinkPerDay', 20_000_000),
    },
    // Per chain. Links, payers and networks cost an attacker nothing, so a merchant's payers also have a limit
    // together.
    totals: {
      payments: totalOf(fields, ['gasPerMerchantPerDay', 500_000_000], ['gasPerDay', 2_000_000_000]),
      returns: totalOf(
        fields,
        ['gasForReturnsPerMerchantPerDay', 50_000_000],
        ['gasForReturnsPerDay', 200_000_000],
      ),
    },
    relayer: fields.choice('relayer', relayers, 'orderSigner'),
    // Each check of new blocks is one request to a node: by name for up to a thousand addresses, or for all transfers.
    depositWindowMs: fields.integer('depositWindowMs', { least: 50, most: 600_000, fallback: 2_000 }),
    // Each check reads at most two hundred addresses, for each token of the chain.
    balanceWindowMs: fields.integer('balanceWindowMs', { least: 50, most: 3_600_000, fallback: 10_000 }),
    mostNamed,
    deposits: fields.section('deposits', depositsOf),
    // Clients wait longer; an answer without a block says where to check again.
    x402WaitMs: fields.integer('x402WaitMs', { least: 0, most: 60_000, fallback: 20_000 }),
  };
  return isOn ? gasless : undefined;
}

/** Refuses a per-merchant limit with which one merchant could use up the total. */
function totalOf(
  fields: Fields,
  [merchantName, merchantFallback]: readonly [string, number],
  [allName, allFallback]: readonly [string, number],
): GasTotal {
  const gas = (name: string, fallback: number) =>
    fields.integer(name, { least: 0, most: 1_000_000_000_000, fallback });
  const total = { perMerchant: gas(merchantName, merchantFallback), all: gas(allName, allFallback) };
  if (total.all > 0 && total.perMerchant * 2 > total.all)
    throw new ConfigError(
      `${fields.path(merchantName)} is over half of ${fields.path(allName)}: one merchant must not use the budget of all`,
    );
  return total;
}

/** By default, short and late deposits are not accepted; the operator or a link can accept them. */
function depositsOf(fields: Fields): DepositPolicy {
  const money = (name: string, fallback: number) =>
    microUsd(BigInt(fields.integer(name, { least: 0, most: 1_000_000_000_000, fallback })));
  return {
    underpaidPpm: fields.integer('underpaidPpm', { least: 0, most: maxUnderpaidPpm, fallback: 0 }),
    underpaidAmount: fields.optional('underpaidAmount', (name) => money(name, 0)),
    latePayment: fields.choice('latePayment', latePayments, 'return'),
    lateHours: fields.integer('lateHours', { least: 1, most: maxLateHours, fallback: 24 }),
    addedAboveFee: money('addedAboveFee', 0),
    addedPerDay: money('addedPerDay', 100_000_000),
  };
}
