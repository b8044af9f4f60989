import { createHmac } from 'node:crypto';
import type { HttpRpc, Sender } from '@florin/evm';
import type { Database } from '@florin/pg';
import { type SigningKey, secp256k1, signerOf } from '@florin/signing';
import { cryptographyOf } from '#authorizations/cryptography.ts';
import { payerChainOf } from '#authorizations/payer-chain.ts';
import type { Chains } from '#chains/chain.ts';
import type { SendPurpose } from '#contracts/purpose.ts';
import { tokenSigningReader } from '#contracts/token-signing.ts';
import { watchAdditions } from '#deposits/addition-balance.ts';
import type { DepositSettings } from '#deposits/context.ts';
import { runDeposits } from '#deposits/deposit.ts';
import { releaseUnfollowedMoves } from '#deposits/deposit-move.ts';
import { newReports } from '#deposits/report.ts';
import { type AgentDoorOptions, agentDoor } from '#http/agent/agent.ts';
import { creationGuard, type RateLimits, type WalletCallGuard, walletCallGuard } from '#http/rate-limit.ts';
import type { Door } from '#http/server.ts';
import { x402Door } from '#http/x402/x402-door.ts';
import { type GasOffers, gasAlarm, gasOffers } from '#merchants/relayed-gas.ts';
import type { OrderContext } from '#orders/context.ts';
import { orderSignerOf } from '#orders/order-signer.ts';
import type { Clock } from '#outside/clock.ts';
import type { Random } from '#outside/random.ts';
import type { SessionMoveContext } from '#sessions/context.ts';
import type { GasBudgets, SubmissionContext } from '#submissions/context.ts';
import { releaseUnfollowed } from '#submissions/submission.ts';
import type { Log } from '#telemetry/log.ts';
import { runRounds } from '#telemetry/rounds.ts';
import { findPayments } from '#x402/accepted-payment.ts';
import { defaultWaitingLimits, requestSlots, sharedReads } from '#x402/waiting.ts';

/**
 * Who may send payments of others: the order signer, whose transaction needs no signature of the order, as long as its
 * wallet has gas; or the settlers.
 */
export const relayers = ['orderSigner', 'settler'] as const;

/** Which payments of others are sent at the service's cost. */
export interface GaslessSettings extends DepositSettings {
  readonly budgets: GasBudgets;
  /** Whether a merchant's payers are offered it; see `gasOffers`. */
  readonly isOffered?: GasOffers['isOffered'];
  /** Whose wallet sends them. */
  readonly relayer: (typeof relayers)[number];
  /** Milliseconds that an x402 request waits for its payment to be seen in a block. */
  readonly x402WaitMs: number;
}

interface Options {
  readonly chains: Chains;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly origin: string;
  readonly serviceDomain: string;
  readonly orderKey: SigningKey;
  readonly settlerKey: SigningKey;
  readonly otherSettlerKeys?: readonly SigningKey[];
  readonly masterKeys: readonly [Uint8Array, ...Uint8Array[]];
  readonly settlement: { readonly reclaimAfterSeconds: number };
  readonly maxOpenSessions: number | undefined;
  readonly rateLimits: RateLimits | undefined;
  readonly gasless?: GaslessSettings;
}

interface Parts {
  readonly db: Database;
  readonly rpcOf: (chainId: number) => HttpRpc;
  readonly sender: Sender<SendPurpose>;
}

/** The doors of agents: the AI protocol, and x402 where payments are sent at the service's cost. */
export function agentDoors(
  options: Options,
  parts: Parts,
  sessionDeps: Omit<OrderContext & SessionMoveContext, 'signer' | 'reclaimAfterSeconds' | 'gasless'>,
): Door[] {
  const { deps, submissions } = agentDepsOf(options, parts, sessionDeps);
  const { db } = parts;
  const admitCreation = creationGuard(options.rateLimits, options.clock);
  const walletCalls = walletCallGuard(options.rateLimits, options.clock);
  const guard = walletCalls === undefined ? {} : { walletCalls };
  const agent = {
    ...guard,
    db,
    deps: { ...deps, ...(admitCreation === undefined ? {} : { admitCreation }) },
    ...(submissions === undefined ? {} : { submissions }),
  };
  return [
    agentDoor({ ...agent, basePaths: ['/aipay/api/v1', '/api/v1'] }),
    ...x402Doors(options, parts, { submissions, guard, admitCreation }),
  ];
}

/** What the AI protocol needs, and what its payments without gas need besides. */
export function agentDepsOf(
  options: Options,
  parts: Parts,
  sessionDeps: Omit<OrderContext & SessionMoveContext, 'signer' | 'reclaimAfterSeconds' | 'gasless'>,
): Pick<AgentDoorOptions, 'deps' | 'submissions'> {
  const deps = {
    ...sessionDeps,
    signer: orderSignerOf(options.orderKey),
    reclaimAfterSeconds: options.settlement.reclaimAfterSeconds,
    serviceDomain: options.serviceDomain,
    cryptography: cryptographyOf(secp256k1),
    payerChain: payerChainOf(parts.rpcOf),
    maxOpenSessions: options.maxOpenSessions,
  };
  if (options.gasless === undefined) return { deps };
  const gasless = { ...options.gasless, signingOf: tokenSigningReader(parts.rpcOf) };
  return { deps: { ...deps, gasless }, submissions: { ...deps, gasless, sender: parts.sender } };
}

function x402Doors(
  options: Options,
  parts: Parts,
  {
    submissions,
    guard,
    admitCreation,
  }: {
    submissions: SubmissionContext | undefined;
    guard: { readonly walletCalls?: WalletCallGuard };
    admitCreation: ((linkId: string) => void) | undefined;
  },
): Door[] {
  if (submissions === undefined) return [];
  // A key for this alone: a MAC under the master key itself would be a second use of it.
  const offerKey = new Uint8Array(createHmac('sha256', options.masterKeys[0]).update('x402 offers').digest());
  const { db, rpcOf } = parts;
  const readPayment = sharedReads(options.clock, (orderIds) => findPayments(db, orderIds));
  const limits = admitCreation === undefined ? {} : { admitCreation };
  const waitMs = options.gasless?.x402WaitMs ?? 0;
  const deps = { ...submissions, ...limits, db, rpcOf, readPayment, offerKey, waitMs };
  const enter = requestSlots(defaultWaitingLimits);
  return [x402Door({ ...guard, deps, enter, basePaths: ['/aipay/x402', '/x402'] })];
}

/** The loops that watch deposit addresses; none if the service pays no gas for payers. */
export function depositLoops(options: Options, parts: Parts, signal: AbortSignal): Promise<void>[] {
  const { gasless } = options;
  if (gasless === undefined) return [];
  const signer = orderSignerOf(options.orderKey);
  const settlers = [options.settlerKey, ...(options.otherSettlerKeys ?? [])].map(
    (key) => signerOf(key).address,
  );
  const deposits = { ...options, ...parts, signer, settings: gasless, reports: newReports() };
  return [
    runDeposits(deposits, signal),
    ...options.chains.all.map((chain) => watchAdditions(deposits, settlers, chain, signal)),
  ];
}

/** Between two looks at what is left of a day's gas: for offers, and for the operator. */
const offersIntervalMs = 5_000;
const alarmIntervalMs = 60_000;

/**
 * The settings with which a web process offers what the service pays for: only while there is gas left. Looks every few seconds
 * until the signal aborts.
 */
export function offeredGasless(
  { gasless, clock, log }: Pick<Options, 'gasless' | 'clock' | 'log'>,
  db: Database,
  signal: AbortSignal,
): { readonly gasless: GaslessSettings | undefined; readonly loop: Promise<void> } {
  if (gasless?.totals === undefined) return { gasless, loop: Promise.resolve() };
  const { isOffered, refresh } = gasOffers({ db, clock, totals: gasless.totals });
  const rounds = { clock, log, intervalMs: offersIntervalMs, failure: 'gas.look_failed' };
  const loop = runRounds(rounds, signal, async () => {
    await refresh();
    return false;
  });
  return { gasless: { ...gasless, isOffered }, loop };
}

/** What a worker looks after besides deposits until the signal aborts: what was sent, and what that costs. */
export function lookAfterGas(
  options: Parameters<typeof runReleases>[0] & Pick<Options, 'gasless'>,
  parts: Parameters<typeof runReleases>[1],
  signal: AbortSignal,
): Promise<void>[] {
  return [runReleases(options, parts, signal), runGasAlarm(options, parts.db, signal)];
}

/** Tells the operator of a day's gas that runs out. */
function runGasAlarm(
  { gasless, clock, log }: Pick<Options, 'gasless' | 'clock' | 'log'>,
  db: Database,
  signal: AbortSignal,
): Promise<void> {
  if (gasless?.totals === undefined) return Promise.resolve();
  const look = gasAlarm({ db, clock, log, totals: gasless.totals });
  const rounds = { clock, log, intervalMs: alarmIntervalMs, failure: 'gas.look_failed' };
  return runRounds(rounds, signal, async () => {
    await look();
    return false;
  });
}

/** Time between two looks for payments whose wallet nobody follows any more. */
const releaseIntervalMs = 60_000;

/** Lets go of what was sent by wallets whose keys have been changed since, as settlements are let go of. */
function runReleases(
  {
    clock,
    log,
    settlement,
  }: Pick<Options, 'clock' | 'log'> & { settlement: { notMinedAfterSeconds: number } },
  { db, sender: { wallets } }: Pick<Parts, 'db' | 'sender'>,
  signal: AbortSignal,
): Promise<void> {
  const rounds = { clock, log, intervalMs: releaseIntervalMs, failure: 'sender.release_failed' };
  return runRounds(rounds, signal, async () => {
    const at = clock.now();
    const given = { wallets, at, before: new Date(at.getTime() - settlement.notMinedAfterSeconds * 1_000) };
    const submissions = await releaseUnfollowed(db, given);
    const moves = await releaseUnfollowedMoves(db, given);
    if (submissions + moves > 0) log.warn('sender.released', { submissions, moves });
    return false;
  });
}
