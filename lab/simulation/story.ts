import { type LatePayment, latePayments } from '@florin/protocol/exception-policy.ts';
import type { SettlementMode } from '@florin/protocol/order.ts';
import type { SeededRandom } from './seeded-random.ts';

/** What a payer, and whoever stands around, does about one session. */
const usualCharacters = [
  /** Pays, and pays again what a reorg has taken away. */
  'honest',
  /** Pays once, and never looks again. */
  'forgetful',
  /** Two payers, each on a chain of their own. */
  'double_payer',
  /** Spends the nonce of the payment otherwise as soon as a reorg allows it. */
  'double_spender',
  /** Pays after the deadline. */
  'late',
  /** Somebody else settles the order. */
  'stranger_settles',
  /** The merchant cancels while the payer gets the order. */
  'cancel_race',
  /** The merchant sends the payment back. */
  'refund',
  /** Nobody pays. */
  'silent',
  /** Signs, and has the service send the payment. */
  'gasless',
  /** Sends the exact total to the order's deposit address. */
  'deposit',
  /** Sends less (so little less that it may be added, where anything is), or more, or it all twice. */
  'deposit_short',
  'deposit_over',
  'deposit_twice',
  /** Sends to the deposit address after the deadline. */
  'deposit_late',
  /** Pays straight through to the merchant, as the service is configured for in such histories. */
  'direct',
  /** Takes the payment back as soon as the contract lets them. */
  'reclaim',
  /** The merchant gives the money back after the settlement. */
  'refund_settled',
  /** An agent: every request twice at once, under one nonce. */
  'agent',
] as const;
export const characters = [
  ...usualCharacters,
  /** Pays, settles, sends tokens about and withdraws fees, all in single transactions of a contract. */
  'batch',
] as const;
export type Character = (typeof characters)[number];

/** What people change about vaults and tokens between payments and payouts. */
export const policyChanges = ['caps', 'pause', 'signer', 'settler', 'token'] as const;
export type PolicyChange = (typeof policyChanges)[number];

export interface PolicyStory {
  readonly changes: readonly { readonly atMs: number; readonly change: PolicyChange }[];
}

/** How much happens in a history. Most mistakes show in small ones, which are the cheaper the fewer events they have. */
export const sizes = ['short', 'middle', 'long'] as const;
export type Size = (typeof sizes)[number];

/** What a size stands for: ranges from least to most, and probabilities. */
interface Measure {
  readonly sessionCount: readonly [number, number];
  readonly lastStartMs: number;
  readonly calmMs: readonly [number, number];
  /** Of one chain, of one process, of one node to each chain. */
  readonly oneChain: number;
  readonly oneProcess: number;
  readonly oneNode: number;
  readonly finalityLag: readonly [number, number];
  readonly slowestBlockMs: readonly [number, number];
  readonly pollIntervalMs: number;
  readonly settlementWindowMs: number;
}

const long: Measure = {
  sessionCount: [1, 3],
  lastStartMs: 15_000,
  calmMs: [30_000, 60_000],
  oneChain: 0.65,
  oneProcess: 0.65,
  oneNode: 0.5,
  finalityLag: [2, 4],
  slowestBlockMs: [3_000, 6_000],
  pollIntervalMs: 4_000,
  settlementWindowMs: 15_000,
};

const measures: Readonly<Record<Size, Measure>> = {
  // Quick enough for a settlement to be final before the faults end.
  short: {
    sessionCount: [1, 2],
    lastStartMs: 6_000,
    calmMs: [18_000, 30_000],
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
    calmMs: [22_000, 42_000],
    settlementWindowMs: 10_000,
  },
  long,
};

/** Until a burn is final and attested. */
const attestedMs = 30_000;

/** The size of a seed's history. */
export function chooseSize(random: SeededRandom): Size {
  const share = random.fraction();
  if (share < 0.7) return 'short';
  return share < 0.9 ? 'middle' : 'long';
}

/** A copy of the database, and when it is put back. */
export interface Restore {
  readonly backupMs: number;
  readonly restoreMs: number;
  /** Whether it is put back only while a transaction that the copy does not know waits for its block. */
  readonly isMidway: boolean;
}

/** What differs between policies for deposits; amounts in Micro-USD, as numbers because a story is told as JSON. */
export interface DepositStory {
  readonly latePayment: LatePayment;
  readonly addedAboveFee: number;
  readonly addedPerDay: number;
}

/** What a history is about: everything that is chosen once. */
export interface Story {
  readonly size: Size;
  /** How the money of payments on another chain gets to the merchant's. */
  readonly crossing: 'vault' | 'cctp';
  /** Whether blocks and receipts have to be proven by their hashes. */
  readonly isProven: boolean;
  /** Negative: payers may take back long before the deadline, so that it races with the settlement. */
  readonly reclaimAfterSeconds: number;
  readonly chainCount: 1 | 2;
  readonly processCount: 1 | 2;
  /** Whether watchers elect a leader, or race for each move. */
  readonly hasLeaders: boolean;
  readonly nodeCount: 1 | 2;
  /** Blocks that a second node lies behind. */
  readonly nodeLag: number;
  /** Whether behind each address there are many nodes, each as far as it is, and every exchange meets another. */
  readonly isBalanced: boolean;
  /** Blocks between head and finalized block. */
  readonly finalityLag: number;
  readonly slowestBlockMs: number;
  /** Between two looks of a watcher at its chain. */
  readonly pollIntervalMs: number;
  /** Between two looks of the settlement at what waits for it. */
  readonly settlementWindowMs: number;
  readonly sessions: readonly { readonly character: Character; readonly startMs: number }[];
  /** What each process's clock is ahead. */
  readonly skewsMs: readonly number[];
  readonly isVaultShort: boolean;
  /** When faults end. */
  readonly calmMs: number;
  /** When a copy of the database is made, and when it is put back. */
  readonly restore: Restore | undefined;
  /** When a reorg deeper than finality happens. */
  readonly deepReorgMs: number | undefined;
  /** What the configuration says of payments that need nothing between payer and merchant. */
  readonly settlementMode: SettlementMode;
  /** What becomes of deposits that are short or late; undefined: they go back. */
  readonly deposits: DepositStory | undefined;
  /** Which contract of the installation the merchant's account names, as one of before may; undefined: a wallet. */
  readonly ownAccount: OwnAccount | undefined;
  /** Whether the gateways send their fees to the vaults. */
  readonly isFeeToVault: boolean;
  /** What is changed while payouts are under way, and taken back when the faults are over; undefined: nothing. */
  readonly policy: PolicyStory | undefined;
}

/** On the chain that sessions are settled on. */
export type OwnAccount = 'gateway' | 'vault' | 'token';

/** The story of a seed. A size changes what is drawn, and not how often something is: a long one is what it always was. */
export function chooseStory(random: SeededRandom, size: Size): Story {
  const measure = measures[size];
  const chainCount = random.chance(measure.oneChain) ? 1 : 2;
  const calmMs = random.between(...measure.calmMs);
  const skew = () => (random.chance(0.7) ? 0 : random.between(-20_000, 20_000));
  const sessions = Array.from({ length: random.between(...measure.sessionCount) }, () => ({
    character: random.pick(usualCharacters) as Character,
    startMs: random.between(0, measure.lastStartMs),
  }));
  const batches = random.fork('batches');
  for (const session of sessions) if (batches.chance(0.08)) session.character = 'batch';
  const backupMs = random.between(1_000, calmMs - 10_000);
  const isMidway = random.fork('midway').chance(0.3);
  const isReclaimed = sessions.some(({ character }) => character === 'reclaim');
  const parties = random.fork('parties');
  const crossing = random.chance(0.6) ? 'vault' : 'cctp';
  const story: Story = {
    size,
    crossing,
    isProven: random.chance(0.25),
    reclaimAfterSeconds: isReclaimed ? random.between(-1_790, -1_750) : 86_400,
    chainCount,
    processCount: random.chance(measure.oneProcess) ? 1 : 2,
    hasLeaders: random.chance(0.4),
    nodeCount: random.chance(measure.oneNode) ? 1 : 2,
    nodeLag: random.between(0, 4),
    isBalanced: random.chance(0.4),
    finalityLag: random.between(...measure.finalityLag),
    slowestBlockMs: random.between(...measure.slowestBlockMs),
    pollIntervalMs: measure.pollIntervalMs,
    settlementWindowMs: measure.settlementWindowMs,
    sessions,
    skewsMs: [skew(), skew()],
    isVaultShort: random.chance(0.1),
    calmMs,
    restore: random.chance(0.1)
      ? { backupMs, restoreMs: random.between(backupMs + 1_000, calmMs), isMidway }
      : undefined,
    deepReorgMs: random.chance(0.03) ? random.between(Math.min(15_000, calmMs - 4_000), calmMs) : undefined,
    settlementMode:
      random.chance(0.15) || sessions.some(({ character }) => character === 'direct') ? 'direct' : 'escrow',
    deposits: hasDeposits({ sessions }) && random.chance(0.5) ? chooseDeposits(random) : undefined,
    ownAccount: parties.chance(0.12) ? parties.pick(ownAccountsOf(chainCount, crossing)) : undefined,
    isFeeToVault: parties.chance(0.1),
    policy: random.fork('policy').chance(0.5) ? choosePolicy(random.fork('policies'), calmMs) : undefined,
  };
  // A payment into our own vault that a reorg below finality has taken back, and that comes back in another transaction, is
  // booked for both: the difference stops the chain, and a person has the books begin anew.
  const ownAccount = story.deepReorgMs === undefined ? story.ownAccount : undefined;
  // Where nothing crosses by a vault, and where what is final does not stay so, there is nothing to learn by it.
  const isCrossing = story.chainCount === 2 && story.crossing === 'vault' && story.deepReorgMs === undefined;
  if (!isCrossing) return withAttestations({ ...story, ownAccount, policy: undefined }, calmMs);
  return withAttestations(story, calmMs);
}

/** A single session seldom burns anything: an honest one stands beside it. */
function withAttestations(story: Story, calmMs: number): Story {
  if (!isAttestedLate(story)) return story;
  const beside = { character: 'honest' as const, startMs: 0 };
  const sessions = story.sessions.length === 1 ? [...story.sessions, beside] : story.sessions;
  return { ...story, sessions, calmMs: calmMs + attestedMs };
}

/** A vault pays nothing out to itself: such a session would wait for a person. */
function ownAccountsOf(chainCount: 1 | 2, crossing: Story['crossing']): readonly OwnAccount[] {
  return chainCount === 2 && crossing === 'vault'
    ? ['gateway', 'token']
    : ['gateway', 'vault', 'vault', 'token'];
}

function choosePolicy(random: SeededRandom, calmMs: number): PolicyStory {
  const changes = Array.from({ length: random.between(1, 3) }, () => ({
    atMs: random.between(1_000, calmMs - 1_000),
    change: random.pick(policyChanges),
  }));
  return { changes };
}

/** Histories that are there for attestations that fail, which need a burn and time until it is final. */
export function isAttestedLate({ size, chainCount, crossing }: Story): boolean {
  return size !== 'short' && chainCount === 2 && crossing === 'cctp';
}

/** Additions of up to a tenth of the total, and sums of them that are sometimes too small for all. */
function chooseDeposits(random: SeededRandom): DepositStory {
  return {
    latePayment: random.pick(latePayments),
    addedAboveFee: random.between(0, 2_000_000),
    addedPerDay: random.between(0, 3_000_000),
  };
}

/** Looks for deposits are statements and calls each: only those histories make them that have any. */
export function hasDeposits({ sessions }: Pick<Story, 'sessions'>): boolean {
  return sessions.some(({ character }) => character.startsWith('deposit'));
}
