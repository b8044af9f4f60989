import { microUsd } from '@florin/protocol/money.ts';
import type { Fields } from './config-field.ts';
import type { GaslessSettings } from './service-gasless.ts';

/** Reads the section `gasless`; undefined when it is switched off. */
export function gaslessOf(fields: Fields): GaslessSettings | undefined {
  const isOn = fields.flag('enabled', true);
  // A payment by authorization takes about 130,000 gas, with the fifth that is kept in hand 160,000.
  const gas = (name: string, fallback: number) =>
    fields.integer(name, { least: 0, most: 1_000_000_000_000, fallback });
  const minAmount = fields.integer('minAmount', { least: 0, most: 1_000_000_000_000, fallback: 1_000_000 });
  const gasless = {
    minAmount: microUsd(BigInt(minAmount)),
    budgets: {
      perPayer: gas('gasPerPayerPerDay', 3_000_000),
      perLink: gas('gasPerLinkPerDay', 100_000_000),
      perNetwork: gas('gasPerNetworkPerDay', 20_000_000),
    },
    // Each look is one request to a node for all open addresses of a chain.
    depositWindowMs: fields.integer('depositWindowMs', { least: 50, most: 600_000, fallback: 2_000 }),
    // Each look reads a hundred addresses, in one request for each token of the chain.
    balanceWindowMs: fields.integer('balanceWindowMs', { least: 50, most: 3_600_000, fallback: 10_000 }),
    // Clients wait longer; an answer without a block says where to look.
    x402WaitMs: fields.integer('x402WaitMs', { least: 0, most: 60_000, fallback: 20_000 }),
  };
  fields.done();
  return isOn ? gasless : undefined;
}
