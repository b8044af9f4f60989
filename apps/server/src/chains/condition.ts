import { boundTo, type Rpc, RpcError, RpcUnavailable, readContract } from '@florin/evm';
import type { Queryable } from '@florin/pg';
import { payoutVaultAbi } from '@florin/protocol/contract.gen.ts';
import { findKnownChain } from '@florin/protocol/known-chain.ts';
import { type MicroUsd, microUsd, unitsPerMicroUsd } from '@florin/protocol/money.ts';
import type { Token } from '@florin/protocol/token.ts';
import type { Clock } from '#outside/clock.ts';
import type { Log } from '#telemetry/log.ts';
import type { Chain, ChainCondition, ChainConditions } from './chain.ts';
import { type ConditionCursor, cursorsOfChains } from './condition.sql.ts';
import { readPausedTokens } from './token-pause.ts';
import { listTokenStops } from './token-stop.ts';
import type { ChainVerification } from './verification.ts';

export interface ConditionOptions {
  readonly chains: readonly Chain[];
  readonly verification: Pick<ChainVerification, 'problemOf'>;
  readonly rpcOf: (chainId: number) => Rpc;
  readonly db: Queryable;
  readonly clock: Clock;
  readonly log: Log;
}

/** Keeps the present states of the chains in memory, so that no request waits for a chain. */
export interface ConditionKeeper {
  readonly conditions: ChainConditions;
  /** Checks once. Never rejects: on a failure the old values stay. */
  refresh(signal: AbortSignal): Promise<void>;
  /** Checks repeatedly until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

const refreshIntervalMs = 2_000;
/** How often the nodes of a chain are asked for a sign of life, and how long each may take. */
const signOfLifeIntervalMs = 5_000;
const signOfLifeLimitMs = 5_000;
/** A chain takes no new payments once none of its nodes has answered for so long: several questions in a row. */
const unreachableAfterMs = 20_000;
/** The operator changes the caps of the vaults, and an issuer pauses a token, about once in months. */
const contractIntervalMs = 60_000;
/** The number of lags kept: ten minutes. This is longer than an epoch of Ethereum, within which its finality varies. */
const maxSamples = 300;

interface Memory {
  readonly samples: number[];
  /** The shortest lag above 0 that this process has seen while the head was new; 0 before the first. */
  leastLagSeconds: number;
  /** Monotonic time at which a node last answered this process, or at which the chain was not verified yet. */
  answeredAtMs: number;
  condition: ChainCondition;
}

/** Makes the keeper. Until its first check every chain has the defaults, and vaults pay nothing. */
export function conditionKeeper(options: ConditionOptions): ConditionKeeper {
  const memories = new Map(
    options.chains.map((chain): [number, Memory] => [
      chain.chainId,
      {
        samples: [],
        leastLagSeconds: 0,
        answeredAtMs: options.clock.monotonicMs(),
        condition: conditionOf(options, chain, undefined, {
          ...{ samples: [], leastLagSeconds: 0, isReachable: true },
        }),
      },
    ]),
  );
  const caps = new Map<string, MicroUsd>();
  const liquidities = new Map<string, MicroUsd>();
  const vaultReads = new Map<string, Date>();
  let stopped: ReadonlySet<string> = new Set();
  const paused = new Map<number, ReadonlySet<string>>();
  let version = 0;
  let contractsReadAtMs = Number.NEGATIVE_INFINITY;
  const look = async () => {
    const rows = await options.db.query(cursorsOfChains, {
      chainIds: options.chains.map(({ chainId }) => chainId),
    });
    const stops = new Set((await listTokenStops(options.db)).map(({ tokenId }) => tokenId));
    if (stops.size !== stopped.size || [...stops].some((tokenId) => !stopped.has(tokenId))) version += 1;
    stopped = stops;
    for (const chain of options.chains) {
      const memory = memories.get(chain.chainId);
      const cursor = rows.find((row) => Number(row.chain_id) === chain.chainId);
      if (memory !== undefined && observe(options, chain, memory, cursor)) version += 1;
    }
  };
  const readContracts = async (signal: AbortSignal) => {
    if (options.clock.monotonicMs() - contractsReadAtMs < contractIntervalMs) return;
    const isComplete = await Promise.all(
      options.chains.map(async (chain) => {
        const [read, pauses] = await Promise.all([
          vaultCaps(options, chain, signal),
          pausedTokens(options, chain, signal),
        ]);
        if (pauses !== undefined && notePauses(options, chain, paused, pauses)) version += 1;
        for (const { tokenId, cap, liquidity } of read ?? []) {
          if (caps.get(tokenId) !== cap) version += 1;
          caps.set(tokenId, cap);
          liquidities.set(tokenId, liquidity);
          vaultReads.set(tokenId, options.clock.now());
        }
        return read !== undefined && pauses !== undefined;
      }),
    );
    // A chain that did not answer is read again at the next check.
    if (isComplete.every(Boolean)) contractsReadAtMs = options.clock.monotonicMs();
  };
  const lookSafely = () => look().catch((error) => warn(options, error));
  const askForLife = async (chain: Chain, signal: AbortSignal) => {
    const memory = memories.get(chain.chainId);
    if (memory !== undefined && (await isAlive(options, chain, signal)))
      memory.answeredAtMs = options.clock.monotonicMs();
  };
  return {
    conditions: {
      version: () => version,
      of: (chainId) => memories.get(chainId)?.condition ?? notFollowed,
      payoutCap: (tokenId) => caps.get(tokenId) ?? microUsd(0n),
      payoutLiquidity: (tokenId) => liquidities.get(tokenId) ?? microUsd(0n),
      vaultReadAt: (tokenId) => vaultReads.get(tokenId),
      isStopped: (tokenId) => stopped.has(tokenId),
      isPaused: (tokenId) => [...paused.values()].some((tokenIds) => tokenIds.has(tokenId)),
    },
    async refresh(signal) {
      await Promise.all([readContracts(signal), ...options.chains.map((chain) => askForLife(chain, signal))]);
      await lookSafely();
    },
    async run(signal) {
      // Separately, so that a silent node delays neither the reads of the cursors nor the other chains.
      const { clock, chains } = options;
      await Promise.all([
        repeat(clock, refreshIntervalMs, signal, lookSafely),
        repeat(clock, refreshIntervalMs, signal, () => readContracts(signal)),
        ...chains.map((chain) =>
          repeat(clock, signOfLifeIntervalMs, signal, () => askForLife(chain, signal)),
        ),
      ]);
    },
  };
}

async function repeat(
  clock: Clock,
  intervalMs: number,
  signal: AbortSignal,
  work: () => Promise<void>,
): Promise<void> {
  while (!signal.aborted) {
    await clock.sleep(intervalMs, signal);
    if (!signal.aborted) await work();
  }
}

/** Whether a node of the chain answers. An error for so simple a question counts as silence. */
async function isAlive(
  { rpcOf }: ConditionOptions,
  { chainId }: Chain,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await rpcOf(chainId).request('eth_blockNumber', [], { timeLimitMs: signOfLifeLimitMs, signal });
    return true;
  } catch (error) {
    if (error instanceof RpcUnavailable || error instanceof RpcError) return false;
    throw error;
  }
}

const notFollowed: ChainCondition = { status: 'delayed', reason: 'chain_not_followed', secondsToFinal: 0 };

function warn({ log }: ConditionOptions, error: unknown): void {
  log.warn('chain.condition_unknown', { message: error instanceof Error ? error.message : String(error) });
}

/** Records one check of a chain; true when it changes what callers see. */
function observe(
  options: ConditionOptions,
  chain: Chain,
  memory: Memory,
  cursor: ConditionCursor | undefined,
): boolean {
  if (cursor !== undefined) note(memory, cursor, ageSeconds(options, cursor));
  if (memory.samples.length > maxSamples) memory.samples.shift();
  const now = options.clock.monotonicMs();
  // A chain that has just been verified has answered.
  if (options.verification.problemOf(chain.chainId) !== undefined) memory.answeredAtMs = now;
  const before = memory.condition;
  memory.condition = conditionOf(options, chain, cursor, {
    samples: memory.samples,
    leastLagSeconds: memory.leastLagSeconds,
    isReachable: now - memory.answeredAtMs < unreachableAfterMs,
  });
  const { status, reason, secondsToFinal } = memory.condition;
  if (status !== before.status || reason !== before.reason) {
    options.log.warn('chain.condition_changed', { chain: chain.name, status, reason });
  }
  return status !== before.status || reason !== before.reason || secondsToFinal !== before.secondsToFinal;
}

function note(memory: Memory, cursor: ConditionCursor, headAge: number): void {
  const lag = lagSeconds(cursor);
  memory.samples.push(lag);
  // A watcher that catches up reads old heads, which are close to the final block for a moment.
  if (lag === 0 || headAge > headSlackSeconds) return;
  memory.leastLagSeconds = memory.leastLagSeconds === 0 ? lag : Math.min(memory.leastLagSeconds, lag);
}

/** How old the newest block is, by our clock. */
function ageSeconds({ clock }: Pick<ConditionOptions, 'clock'>, cursor: ConditionCursor): number {
  return (clock.now().getTime() - cursor.head_time.getTime()) / 1_000;
}

/** How far the final block lags behind the head, by the chain's own clock. */
function lagSeconds(cursor: ConditionCursor): number {
  return Math.max(0, (cursor.head_time.getTime() - cursor.final_time.getTime()) / 1_000);
}

/** Acceptable seconds without a new block. */
const headSlackSeconds = 60;
/** Acceptable seconds beyond twice the usual time to finality: that time again, within these bounds. */
const finalitySlackSeconds = { least: 60, most: 300 };
/** From this age of the newest block, in usual blocks, the expected time grows; at least so many seconds. */
const idleAfterBlocks = 3;
const idleAfterSeconds = 10;
/** The expected time grows in steps of so many seconds: each change makes every cached offer anew. */
const idleStepSeconds = 10;

function conditionOf(
  options: Pick<ConditionOptions, 'verification' | 'clock'>,
  chain: Chain,
  cursor: ConditionCursor | undefined,
  {
    samples,
    leastLagSeconds,
    isReachable,
  }: Pick<Memory, 'samples' | 'leastLagSeconds'> & { isReachable: boolean },
): ChainCondition {
  const expected = expectedSecondsToFinal(chain);
  const secondsToFinal =
    cursor === undefined
      ? expected
      : (measuredSeconds(chain, cursor, samples) ?? expected) + idleSeconds(options, chain, cursor);
  const unavailable = (reason: ChainCondition['reason']): ChainCondition => ({
    status: 'unavailable',
    reason,
    secondsToFinal,
  });
  if (options.verification.problemOf(chain.chainId) !== undefined) return unavailable('chain_unverified');
  if (cursor !== undefined && cursor.halted_reason !== '') return unavailable('chain_halted');
  if (!isReachable) return unavailable('chain_unreachable');
  if (cursor === undefined) return { ...notFollowed, secondsToFinal };
  const usual = knownSecondsToFinal(chain) ?? Math.max(expected, leastLagSeconds);
  const { least, most } = finalitySlackSeconds;
  const isLagging =
    ageSeconds(options, cursor) > headSlackSeconds + 10 * secondsPerBlock(cursor) ||
    lagSeconds(cursor) > 2 * usual + Math.min(most, Math.max(least, usual));
  return isLagging
    ? { status: 'delayed', reason: 'chain_lagging', secondsToFinal }
    : { status: 'available', reason: '', secondsToFinal };
}

/**
 * What a chain that stands still adds to the expected time: at least the age of its newest block, less a usual block. 0 while
 * blocks come.
 */
function idleSeconds(
  options: Pick<ConditionOptions, 'clock'>,
  { pollIntervalMs }: Chain,
  cursor: ConditionCursor,
): number {
  const perBlock = secondsPerBlock(cursor);
  const age = ageSeconds(options, cursor);
  const usual = perBlock + pollIntervalMs / 1_000;
  if (age <= Math.max(idleAfterSeconds, idleAfterBlocks * perBlock + usual)) return 0;
  return Math.ceil((age - usual) / idleStepSeconds) * idleStepSeconds;
}

/** How far apart the final block and the head are per block; 0 when they are the same block. */
function secondsPerBlock(cursor: ConditionCursor): number {
  const blocks = Number(cursor.head_number - cursor.final_number);
  return blocks === 0 ? 0 : lagSeconds(cursor) / blocks;
}

/**
 * The maximum of the last minutes, so that the figure holds in any part of an epoch, plus a block and a poll. Outliers do
 * not count: after an outage the time between two blocks is long, until the second one is final. Undefined
 * with head and final block equal all the time: the chain is final at once, or has just begun.
 */
function measuredSeconds(
  { pollIntervalMs }: Chain,
  cursor: ConditionCursor,
  samples: readonly number[],
): number | undefined {
  const usual = samples.toSorted((one, other) => other - one);
  const worst = usual[Math.floor(samples.length * outlierShare)] ?? 0;
  if (cursor.head_number === cursor.final_number && worst === 0) return undefined;
  return Math.max(1, Math.ceil(worst + secondsPerBlock(cursor) + pollIntervalMs / 1_000));
}

/** The figure until a measurement exists: configured, else the chain's default, else one block per second. */
export function expectedSecondsToFinal(chain: Chain): number {
  return knownSecondsToFinal(chain) ?? chain.finality.depth + 2;
}

/** Twelve seconds of ten minutes. */
const outlierShare = 0.02;

/** Undefined where neither the configuration nor the table of known chains says it. */
function knownSecondsToFinal({ chainId, finality }: Chain): number | undefined {
  if (finality.expectedSeconds !== undefined) return finality.expectedSeconds;
  const known = findKnownChain(chainId)?.secondsToFinal?.[finality.tag];
  return known === undefined ? undefined : Math.max(known, finality.depth) + 2;
}

/** The chain's tokens whose issuer has paused them; undefined when the chain gave no answer. */
async function pausedTokens(
  options: ConditionOptions,
  { chainId, tokens }: Chain,
  signal: AbortSignal,
): Promise<ReadonlySet<string> | undefined> {
  try {
    return await readPausedTokens(boundTo(options.rpcOf(chainId), signal), tokens);
  } catch (error) {
    warn(options, error);
    return undefined;
  }
}

/** Remembers which tokens of a chain are paused, and logs each change; true when there is one. */
function notePauses(
  { log }: ConditionOptions,
  { chainId, tokens }: Chain,
  memory: Map<number, ReadonlySet<string>>,
  paused: ReadonlySet<string>,
): boolean {
  const before = memory.get(chainId);
  memory.set(chainId, paused);
  const changed = tokens.filter(({ tokenId }) => paused.has(tokenId) !== (before?.has(tokenId) ?? false));
  for (const { tokenId } of changed) {
    log.warn(paused.has(tokenId) ? 'token.paused_by_issuer' : 'token.not_paused_any_more', { tokenId });
  }
  return changed.length > 0;
}

interface VaultSays {
  readonly tokenId: string;
  readonly cap: MicroUsd;
  readonly liquidity: MicroUsd;
}

/**
 * The most that a chain's vault pays for one order, and the amount available now, by token; undefined when the chain
 * gave no answer.
 */
async function vaultCaps(
  options: ConditionOptions,
  chain: Chain,
  signal: AbortSignal,
): Promise<VaultSays[] | undefined> {
  const rpc = boundTo(options.rpcOf(chain.chainId), signal);
  try {
    return await Promise.all(
      chain.tokens.map(async (token): Promise<VaultSays> => {
        const asked = { abi: payoutVaultAbi, args: [token.address] } as const;
        const caps = await readContract(rpc, chain.vault, { ...asked, functionName: 'capsOf' });
        const available = await readContract(rpc, chain.vault, { ...asked, functionName: 'available' });
        return {
          tokenId: token.tokenId,
          cap: caps === undefined ? microUsd(0n) : capOf(token, caps),
          liquidity: microUsd((available ?? 0n) / unitsPerMicroUsd(token.decimals)),
        };
      }),
    );
  } catch (error) {
    warn(options, error);
    return undefined;
  }
}

/** An order within its own cap but over the cap of an hour or a day would wait for ever. */
function capOf(
  token: Token,
  { perOrder, hourly, daily }: { perOrder: bigint; hourly: bigint; daily: bigint },
): MicroUsd {
  const least = [perOrder, hourly, daily].reduce((left, right) => (left < right ? left : right));
  return microUsd(least / unitsPerMicroUsd(token.decimals));
}
