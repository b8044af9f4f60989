import { createSender, type Rpc, rpcOver, runWatcher, type Sender, type WalletSigner } from '@florin/evm';
import { type DeliverySettings, defaultDeliverySettings, runDeliveries } from '@florin/outbox';
import type { Database } from '@florin/pg';
import { microUsd } from '@florin/protocol/money.ts';
import { type Chain, type Chains, type DepositPolicy, secretBox } from '@florin/server/operator';
import {
  type AuthorizationContext,
  type CreationParts,
  chainReactions,
  creationPartsOf,
  type DepositSettings,
  type Egress,
  type Log,
  logSourceOf,
  newReports,
  outboxWorker,
  outcomesOf,
  purposes,
  runDeposits,
  runExpiry,
  runReconciliation,
  runSettlement,
  type SubmissionContext,
} from '@florin/server/parts';
import { attestationModel } from './attestation-model.ts';
import type { ChainModel } from './chain-model.ts';
import type { Faults } from './faults.ts';
import { connectionTo, type NodeModel } from './node-model.ts';
import type { ModelProcess } from './process-model.ts';
import { hasDeposits, type Scenario } from './scenario.ts';
import type { SeededRandom } from './seeded-random.ts';
import { modelCryptography, orderSigner, relayerWallet, tokenDomainOf } from './signing-model.ts';

export const origin = 'https://pay.example.com';
const masterKey = new Uint8Array(32).fill(7);

export const secrets = secretBox([masterKey]);

/** Parts of the wiring that seeded bugs replace. */
export interface Wiring {
  readonly wallet: (process: ModelProcess) => WalletSigner;
  readonly egress: (egress: Egress) => Egress;
  /** Whether the outcome of a transaction with this purpose is reported. */
  readonly reportsOutcomeOf: (purpose: string) => boolean;
}

export interface ServiceModelOptions {
  readonly process: ModelProcess;
  readonly db: Database;
  readonly chains: Chains;
  readonly nodes: readonly NodeModel[];
  readonly egress: Egress;
  readonly random: SeededRandom;
  readonly faults: Faults;
  readonly log: Log;
  readonly wiring: Wiring;
  /** Whether watchers elect a leader, or race for each move. */
  readonly hasLeaders: boolean;
  readonly scenario: Scenario;
  readonly models: readonly ChainModel[];
}

/** The parts of a running process that requests need. */
export interface ServiceModel {
  readonly process: ModelProcess;
  readonly db: Database;
  readonly deps: SubmissionContext & { readonly sender: Sender };
  readonly creation: CreationParts;
}

/** Fast for a simulation, where every poll costs real time. The settings have production's proportions. */
const deliverySettings: DeliverySettings = {
  ...defaultDeliverySettings,
  pollMs: 12_000,
  retry: {
    ...defaultDeliverySettings.retry,
    delaysMs: [0, ...Array.from({ length: 40 }, () => 5_000)],
  },
};

/** Settings of settlements. A history is over in minutes. */
const settlementSettings = {
  ...{ batchSize: 10, windowSeconds: 0, notMinedAfterSeconds: 45, keepAfterSeconds: 20 },
  ...{ maxBaseFeeGwei: undefined, outflow: undefined },
};

/** A history is over in minutes. */
const reconcileIntervalMs = 20_000;

/** Starts the loops of one process: production's files, wired like `service/service.ts`. */
export function startModel(options: ServiceModelOptions): ServiceModel {
  const { process, db, chains, nodes, random, faults, log, wiring, scenario } = options;
  const { clock } = process;
  const rpcs = new Map(chains.all.map((chain): [number, Rpc] => [chain.chainId, rpcFor(chain)]));
  function rpcFor(chain: Chain): Rpc {
    const ownNodes = nodes.filter((node) => node.chain.chain.chainId === chain.chainId);
    const nodeConnections = ownNodes.map((node) => connectionTo(node, process, faults));
    return rpcOver(nodeConnections, { chainId: chain.chainId, clock, log });
  }
  const rpcOf = (chainId: number): Rpc => {
    const rpc = rpcs.get(chainId);
    if (rpc === undefined) throw new Error(`chain ${chainId} is not configured`);
    return rpc;
  };
  const context = { clock, random, origin, log };
  const wallet = wiring.wallet(process);
  const signal = new AbortController().signal;
  const reportOutcome = outcomesOf(context);
  const sender = createSender({
    chains: chains.all,
    purposes,
    rpcOf,
    db,
    clock,
    log,
    wallet,
    relayer: relayerWallet,
    maxFeePerGas: 500_000_000_000n,
    // So fast that a silent chain would use up all attempts of a transaction.
    settings: { replaceAfterMs: 4_000 },
    onOutcome: async (transaction, outcome) => {
      if (wiring.reportsOutcomeOf(outcome.purpose)) await reportOutcome(transaction, outcome);
    },
  });
  const handler = chainReactions({ ...context, chains });
  const shared = { db, chains, sender, signer: orderSigner };
  const settings = depositSettingsOf(scenario);
  const deposits = { ...context, ...shared, rpcOf, reports: newReports(), settings };
  const settlement = runSettlement(
    {
      ...context,
      ...shared,
      settings: { ...settlementSettings, windowMs: scenario.settlementWindowMs },
      attestations:
        scenario.crossChainMethod === 'vault' ? undefined : attestationModel(options.models, process, faults),
      rpcOf,
    },
    signal,
  );
  const egress = wiring.egress(options.egress);
  const loops = [
    ...chains.all.map((chain) =>
      runWatcher({
        ...{ chain, source: logSourceOf(chain), rpc: rpcOf(chain.chainId), db },
        clock: slowHeartbeats(clock),
        log,
        handler,
        signal,
        ...(options.hasLeaders ? { candidate: { id: process.name, isGone: () => false } } : {}),
      }),
    ),
    sender.run(signal),
    settlement,
    runDeliveries(
      outboxWorker({ db, clock, random, log, egress, secrets, settings: deliverySettings }),
      signal,
    ),
    ...(hasDeposits(scenario) ? [runDeposits(deposits, signal)] : []),
    runExpiry({ db, random, log, origin, clock: slowPolling(clock) }, signal),
    runReconciliation(
      { chains: chains.all, rpcOf, db, clock: slowPolling(clock), log, intervalMs: reconcileIntervalMs },
      signal,
    ),
  ];
  for (const loop of loops) loop.catch((error) => log.error('simulation.loop_ended', error));
  const deps = { ...requestDeps(options), sender };
  return { process, db, deps, creation: creationPartsOf(db, deps) };
}

function depositSettingsOf(scenario: Scenario): DepositSettings {
  // Half of the histories with deposits query all transfers, as production does with many open orders.
  const mostNamed = scenario.deposits === undefined ? 1_000 : 1;
  return {
    depositWindowMs: 6_000,
    balanceWindowMs: 10_000,
    minAmount: microUsd(1n),
    mostNamed,
    depositBudgets: undefined,
    totals: undefined,
    deposits: undefined,
    ...additionsOf(scenario),
  };
}

function additionsOf({ deposits }: Scenario): { readonly deposits?: DepositPolicy } {
  if (deposits === undefined) return {};
  const { latePayment, addedAboveFee, addedPerDay } = deposits;
  return {
    deposits: {
      underpaidPpm: 100_000,
      underpaidAmount: undefined,
      latePayment,
      lateHours: 1,
      addedAboveFee: microUsd(BigInt(addedAboveFee)),
      addedPerDay: microUsd(BigInt(addedPerDay)),
    },
  };
}

const feeRates = { sameToken: 2_000, sameChain: 3_000, crossChain: 6_000 };
const unlimitedBudgets = {
  ...{ perPayer: 1e12, perLink: 1e12, perNetwork: 1e12 },
  smartAccounts: { perPayment: 1e12, failuresPerMerchant: 1e12 },
};

/** What requests need, like the endpoints' dependencies. */
function requestDeps({
  process,
  random,
  chains,
  scenario,
}: ServiceModelOptions): Omit<SubmissionContext, 'sender'> {
  const gasless: SubmissionContext['gasless'] = {
    minAmount: microUsd(1n),
    budgets: unlimitedBudgets,
    ...additionsOf(scenario),
    signingOf: async ({ chainId, address }) => ({
      permits: new Set(['eip3009', 'permit2']),
      domain: tokenDomainOf(chainId, address),
    }),
  };
  const payerChain: AuthorizationContext['payerChain'] = {
    codeAt: async () => '0x',
    callAt: async () => `0x${'f'.repeat(64)}`,
  };
  return {
    clock: process.clock,
    random,
    origin,
    chains,
    rates: feeRates,
    signer: orderSigner,
    reclaimAfterSeconds: scenario.reclaimAfterSeconds,
    settlementMode: scenario.settlementMode,
    serviceDomain: 'example.com',
    cryptography: modelCryptography,
    payerChain,
    maxOpenSessions: undefined,
    gasless,
  };
}

/**
 * A leader's heartbeats and the standby watchers' checks are statements. They run at an eighth of the rate, and the
 * timeout is twice as long. So the lead changes within seconds, as in production.
 */
function slowHeartbeats(clock: ModelProcess['clock']): ModelProcess['clock'] {
  return {
    ...clock,
    monotonicMs: () => clock.monotonicMs() / 2,
    sleep: (ms, signal) => clock.sleep(ms < 500 ? ms * 8 : ms, signal),
  };
}

/**
 * In production, expiry and reconciliation check once a second whether it is their turn. Here they check at a tenth
 * of the rate, because each check costs statements.
 */
function slowPolling(clock: ModelProcess['clock']): ModelProcess['clock'] {
  return { ...clock, sleep: (ms, signal) => clock.sleep(ms * 10, signal) };
}
