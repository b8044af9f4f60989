import { type LatePayment, latePayments } from '@florin/protocol/exception-policy.ts';
import type { SettlementMode } from '@florin/protocol/order.ts';
import type { SeededRandom } from './seeded-random.ts';

/** The behaviour of a payer and of third parties in one session. */
const usualBehaviours = [
  /** Pays, and pays again if a reorg removes the payment. */
  'honest',
  /** Pays once, and never checks again. */
  'forgetful',
  /** Two payers, each on a different chain. */
  'double_payer',
  /** Uses the payment's nonce for another transaction as soon as a reorg allows it. */
  'double_spender',
  /** Pays after the deadline. */
  'late',
  /** A stranger settles the order. */
  'stranger_settles',
  /** The merchant cancels while the payer gets the order. */
  'cancel_race',
  /** The merchant sends the payment back. */
  'refund',
  /** Never pays. */
  'silent',
  /** Signs, and the service sends the payment. */
  'gasless',
  /** Sends the exact total to the order's deposit address. */
  'deposit',
  /**
   * Sends too little, too much or the total twice. Where the operator adds to deposits, the missing amount may be
   * small enough.
   */
  'deposit_short',
  'deposit_over',
  'deposit_twice',
  /** Sends to the deposit address after the deadline. */
  'deposit_late',
  /** Pays the merchant directly, where the configuration allows it. */
  'direct',
  /** Reclaims the payment as soon as the contract allows it. */
  'reclaim',
  /** The merchant refunds after the settlement. */
  'refund_settled',
  /** An agent that sends every request twice at once, under one nonce. */
  'agent',
] as const;
export const behaviours = [
  ...usualBehaviours,
  /** Pays, settles, transfers tokens and withdraws fees, each step in a single transaction of a contract. */
  'batch',
] as const;
export type SessionBehaviour = (typeof behaviours)[number];

/** Changes that operators make to vaults and tokens between payments and payouts. */
export const policyChanges = ['caps', 'pause', 'signer', 'settler', 'token'] as const;
export type PolicyChange = (typeof policyChanges)[number];

export interface PolicyScenario {
  readonly changes: readonly { readonly atMs: number; readonly change: PolicyChange }[];
}

/**
 * The amount of activity in a history. Most mistakes show in small histories, which are cheaper because they have
 * fewer events.
 */
export const sizes = ['short', 'middle', 'long'] as const;
export type Size = (typeof sizes)[number];

/** The parameters of a size: ranges and probabilities. */
interface SizeParameters {
  readonly sessionCount: readonly [number, number];
  readonly lastStartMs: number;
  readonly faultsEndMs: readonly [number, number];
  /** Probabilities of one chain, of one process and of one node per chain. */
  readonly oneChain: number;
  readonly oneProcess: number;
  readonly oneNode: number;
  readonly finalityLag: readonly [number, number];
  readonly slowestBlockMs: readonly [number, number];
  readonly pollIntervalMs: number;
  readonly settlementWindowMs: number;
}

const long: SizeParameters = {
  sessionCount: [1, 3],
  lastStartMs: 15_000,
  faultsEndMs: [30_000, 60_000],
  oneChain: 0.65,
  oneProcess: 0.65,
  oneNode: 0.5,
  finalityLag: [2, 4],
  slowestBlockMs: [3_000, 6_000],
  pollIntervalMs: 4_000,
  settlementWindowMs: 15_000,
};

const sizeParameters: Readonly<Record<Size, SizeParameters>> = {
  // Fast enough that a settlement becomes final before the faults end.
  short: {
    sessionCount: [1, 2],
    lastStartMs: 6_000,
    faultsEndMs: [18_000, 30_000],
    oneChain: 0.85,
    oneProcess: 0.8,
    oneNode: 0.6,
    finalityLag: [2, 3],
    slowestBlockMs: [2_500, 4_000],
    pollIntervalMs: 3_000,
    settlementWindowMs: 6_000,
  },
  middle: {
    ...long,
    sessionCount: [1, 2],
    lastStartMs: 8_000,
    faultsEndMs: [22_000, 42_000],
    settlementWindowMs: 10_000,
  },
  long,
};

/** Time until a burn is final and attested. */
const attestationMs = 30_000;

/** Chooses the size of a seed's history. */
export function chooseSize(random: SeededRandom): Size {
  const share = random.fraction();
  if (share < 0.7) return 'short';
  return share < 0.9 ? 'middle' : 'long';
}

/** The times of a database copy and of its restore. */
export interface Restore {
  readonly backupMs: number;
  readonly restoreMs: number;
  /** Whether the restore waits until a transaction that the copy does not know is pending. */
  readonly waitsForUnknownTransaction: boolean;
}

/**
 * The settings for deposits that differ between scenarios. Amounts are Micro-USD as numbers, because scenarios are
 * printed as JSON.
 */
export interface DepositScenario {
  readonly latePayment: LatePayment;
  readonly addedAboveFee: number;
  readonly addedPerDay: number;
}

/**
 * How the money crosses when payer and merchant use different chains. `cctp` has vaults that pay nothing; `both` has CCTP with a
 * limit that some prices exceed, and vaults that pay those.
 */
export const crossChainMethods = ['vault', 'cctp', 'both'] as const;
type CrossChainMethod = (typeof crossChainMethods)[number];

/** What a history is about: every choice that is made once. */
export interface Scenario {
  readonly size: Size;
  readonly crossChainMethod: CrossChainMethod;
  /** Whether blocks and receipts must be proven by their hashes. */
  readonly isProven: boolean;
  /** Negative: payers may reclaim long before the deadline, so that reclaim and settlement race. */
  readonly reclaimAfterSeconds: number;
  readonly chainCount: 1 | 2;
  readonly processCount: 1 | 2;
  /** Whether watchers elect a leader, or race for each move. */
  readonly hasLeaders: boolean;
  readonly nodeCount: 1 | 2;
  /** Lag of a second node in blocks. */
  readonly nodeLag: number;
  /** Whether each address is a load balancer over many nodes, so that every exchange meets a node with another lag. */
  readonly isLoadBalanced: boolean;
  /** Blocks between head and finalized block. */
  readonly finalityLag: number;
  readonly slowestBlockMs: number;
  /** Time between two polls of a watcher. */
  readonly pollIntervalMs: number;
  /** Time between two polls of the settlement. */
  readonly settlementWindowMs: number;
  readonly sessions: readonly { readonly behaviour: SessionBehaviour; readonly startMs: number }[];
  /** Milliseconds that each process's clock is ahead. */
  readonly clockSkewsMs: readonly number[];
  readonly isVaultEmpty: boolean;
  /** The end of the faults. */
  readonly faultsEndMs: number;
  /** The times of the database copy and of its restore. */
  readonly restore: Restore | undefined;
  /** The time of a reorg deeper than finality. */
  readonly deepReorgMs: number | undefined;
  /** The configured mode for payments where payer and merchant use the same chain and token. */
  readonly settlementMode: SettlementMode;
  /** The handling of short and late deposits. Undefined: they go back. */
  readonly deposits: DepositScenario | undefined;
  /** The contract of the installation that the merchant's account names, as older accounts may. Undefined: a wallet. */
  readonly accountContract: AccountContract | undefined;
  /** Whether the gateways send their fees to the vaults. */
  readonly isVaultFeeRecipient: boolean;
  /** The changes while payouts are in progress, which are reverted after the faults. Undefined: none. */
  readonly policy: PolicyScenario | undefined;
}

/** On the chain where sessions settle. */
export type AccountContract = 'gateway' | 'vault' | 'token';

/** Sessions last half an hour, and histories minutes: some have orders that can be reclaimed after ten seconds. */
export const leastReclaimAfterSeconds = -1_790;

/** Chooses the scenario of a seed. A size changes the ranges, but not the order of the draws: long histories stay the same. */
export function chooseScenario(random: SeededRandom, size: Size): Scenario {
  const parameters = sizeParameters[size];
  const chainCount = random.chance(parameters.oneChain) ? 1 : 2;
  const faultsEndMs = random.between(...parameters.faultsEndMs);
  const skew = () => (random.chance(0.7) ? 0 : random.between(-20_000, 20_000));
  const sessions = Array.from({ length: random.between(...parameters.sessionCount) }, () => ({
    behaviour: random.pick(usualBehaviours) as SessionBehaviour,
    startMs: random.between(0, parameters.lastStartMs),
  }));
  const batches = random.fork('batches');
  for (const session of sessions) if (batches.chance(0.08)) session.behaviour = 'batch';
  const backupMs = random.between(1_000, faultsEndMs - 10_000);
  const waitsForUnknownTransaction = random.fork('midway').chance(0.3);
  const isReclaimed = sessions.some(({ behaviour }) => behaviour === 'reclaim');
  const parties = random.fork('parties');
  const cctpMethod = random.fork('ways across').chance(0.5) ? 'both' : 'cctp';
  const crossChainMethod = random.chance(0.6) ? 'vault' : cctpMethod;
  const scenario: Scenario = {
    size,
    crossChainMethod,
    isProven: random.chance(0.25),
    reclaimAfterSeconds: isReclaimed ? random.between(leastReclaimAfterSeconds, -1_750) : 172_800,
    chainCount,
    processCount: random.chance(parameters.oneProcess) ? 1 : 2,
    hasLeaders: random.chance(0.4),
    nodeCount: random.chance(parameters.oneNode) ? 1 : 2,
    nodeLag: random.between(0, 4),
    isLoadBalanced: random.chance(0.4),
    finalityLag: random.between(...parameters.finalityLag),
    slowestBlockMs: random.between(...parameters.slowestBlockMs),
    pollIntervalMs: parameters.pollIntervalMs,
    settlementWindowMs: parameters.settlementWindowMs,
    sessions,
    clockSkewsMs: [skew(), skew()],
    isVaultEmpty: random.chance(0.1),
    faultsEndMs,
    restore: random.chance(0.1)
      ? { backupMs, restoreMs: random.between(backupMs + 1_000, faultsEndMs), waitsForUnknownTransaction }
      : undefined,
    deepReorgMs: random.chance(0.03)
      ? random.between(Math.min(15_000, faultsEndMs - 4_000), faultsEndMs)
      : undefined,
    settlementMode:
      random.chance(0.15) || sessions.some(({ behaviour }) => behaviour === 'direct') ? 'direct' : 'escrow',
    deposits: hasDeposits({ sessions }) && random.chance(0.5) ? chooseDeposits(random) : undefined,
    accountContract: parties.chance(0.12)
      ? parties.pick(accountContractsFor(chainCount, crossChainMethod))
      : undefined,
    isVaultFeeRecipient: parties.chance(0.1),
    policy: random.fork('policy').chance(0.5)
      ? choosePolicy(random.fork('policies'), faultsEndMs)
      : undefined,
  };
  // With an account at our own vault, a reorg below finality can move a payment to another transaction. The books
  // have both, so the difference stops the chain, and the operator has to reset the books.
  const accountContract = scenario.deepReorgMs === undefined ? scenario.accountContract : undefined;
  // Policy changes teach nothing without payments across chains, or where final events do not stay final.
  const isAcross = scenario.chainCount === 2 && scenario.deepReorgMs === undefined;
  return withSessionsAcross(
    { ...scenario, accountContract, policy: isAcross ? scenario.policy : undefined },
    faultsEndMs,
  );
}

/** A single session rarely burns anything, and two rarely leave by both ways, so this adds honest ones. */
function withSessionsAcross(scenario: Scenario, faultsEndMs: number): Scenario {
  const takesBothWays = scenario.chainCount === 2 && scenario.crossChainMethod === 'both';
  const hasAttestations = testsAttestations(scenario);
  if (!takesBothWays && !hasAttestations) return scenario;
  const missing = Math.max(0, (takesBothWays ? 3 : 2) - scenario.sessions.length);
  const extraSessions = Array.from({ length: missing }, () => ({ behaviour: 'honest' as const, startMs: 0 }));
  const sessions = [...scenario.sessions, ...extraSessions];
  return { ...scenario, sessions, faultsEndMs: faultsEndMs + (hasAttestations ? attestationMs : 0) };
}

/** A vault does not pay out to itself. Such a session would wait for the operator. */
function accountContractsFor(
  chainCount: 1 | 2,
  crossChainMethod: Scenario['crossChainMethod'],
): readonly AccountContract[] {
  return chainCount === 2 && crossChainMethod !== 'cctp'
    ? ['gateway', 'token']
    : ['gateway', 'vault', 'vault', 'token'];
}

function choosePolicy(random: SeededRandom, faultsEndMs: number): PolicyScenario {
  const changes = Array.from({ length: random.between(1, 3) }, () => ({
    atMs: random.between(1_000, faultsEndMs - 1_000),
    change: random.pick(policyChanges),
  }));
  return { changes };
}

/** Histories for failing attestations. They need a burn, and time until it is final. */
export function testsAttestations({ size, chainCount, crossChainMethod }: Scenario): boolean {
  return size !== 'short' && chainCount === 2 && crossChainMethod !== 'vault';
}

/** Allows additions of up to a tenth of the total, with a budget that sometimes does not cover all of them. */
function chooseDeposits(random: SeededRandom): DepositScenario {
  return {
    latePayment: random.pick(latePayments),
    addedAboveFee: random.between(0, 2_000_000),
    addedPerDay: random.between(0, 3_000_000),
  };
}

/** Polls for deposits cost statements and calls. Only histories with deposits make them. */
export function hasDeposits({ sessions }: Pick<Scenario, 'sessions'>): boolean {
  return sessions.some(({ behaviour }) => behaviour.startsWith('deposit'));
}
