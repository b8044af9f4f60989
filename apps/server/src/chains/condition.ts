import { boundTo, type Rpc, readContract } from '@florin/evm';
import type { Queryable } from '@florin/pg';
import { payoutVaultAbi } from '@florin/protocol/contract.gen.ts';
import { findKnownChain } from '@florin/protocol/known-chain.ts';
import { type MicroUsd, microUsd, unitsPerMicroUsd } from '@florin/protocol/money.ts';
import type { Token } from '@florin/protocol/token.ts';
import type { Clock } from '#outside/clock.ts';
import type { Log } from '#telemetry/log.ts';
import type { Chain, ChainCondition, ChainConditions } from './chain.ts';
import { type ConditionCursor, cursorsOfChains } from './condition.sql.ts';
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
/** The operator changes the caps of the vaults, about once in months. */
const capIntervalMs = 60_000;
/** The number of lags kept: ten minutes. This is longer than an epoch of Ethereum, within which its finality varies. */
const maxSamples = 300;

interface Memory {
  readonly samples: number[];
  condition: ChainCondition;
}

/** Makes the keeper. Until its first check every chain has the defaults, and vaults pay nothing; unverified chains are unavailable. */
export function conditionKeeper(options: ConditionOptions): ConditionKeeper {
  const memories = new Map(
    options.chains.map((chain): [number, Memory] => [
      chain.chainId,
      { samples: [], condition: conditionOf(options, chain, undefined, []) },
    ]),
  );
  const caps = new Map<string, MicroUsd>();
  const liquidities = new Map<string, MicroUsd>();
  let stopped: ReadonlySet<string> = new Set();
  let version = 0;
  let capsReadAtMs = Number.NEGATIVE_INFINITY;
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
  const readCaps = async (signal: AbortSignal) => {
    if (options.clock.monotonicMs() - capsReadAtMs < capIntervalMs) return;
    const isComplete = await Promise.all(
      options.chains.map(async (chain) => {
        const read = await vaultCaps(options, chain, signal);
        for (const { tokenId, cap, liquidity } of read ?? []) {
          if (caps.get(tokenId) !== cap) version += 1;
          caps.set(tokenId, cap);
          liquidities.set(tokenId, liquidity);
        }
        return read !== undefined;
      }),
    );
    // A vault that did not answer is read again at the next check.
    if (isComplete.every(Boolean)) capsReadAtMs = options.clock.monotonicMs();
  };
  const lookSafely = () => look().catch((error) => warn(options, error));
  return {
    conditions: {
      version: () => version,
      of: (chainId) => memories.get(chainId)?.condition ?? notFollowed,
      payoutCap: (tokenId) => caps.get(tokenId) ?? microUsd(0n),
      payoutLiquidity: (tokenId) => liquidities.get(tokenId) ?? microUsd(0n),
      isStopped: (tokenId) => stopped.has(tokenId),
    },
    async refresh(signal) {
      await Promise.all([lookSafely(), readCaps(signal)]);
    },
    async run(signal) {
      // Separately, so that a silent node does not delay the reads of the cursors.
      await Promise.all([
        repeat(options.clock, signal, lookSafely),
        repeat(options.clock, signal, () => readCaps(signal)),
      ]);
    },
  };
}

async function repeat(clock: Clock, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    await clock.sleep(refreshIntervalMs, signal);
    if (!signal.aborted) await work();
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
  if (cursor !== undefined) memory.samples.push(lagSeconds(cursor));
  if (memory.samples.length > maxSamples) memory.samples.shift();
  const before = memory.condition;
  memory.condition = conditionOf(options, chain, cursor, memory.samples);
  const { status, reason, secondsToFinal } = memory.condition;
  if (status !== before.status || reason !== before.reason) {
    options.log.warn('chain.condition_changed', { chain: chain.name, status, reason });
  }
  return status !== before.status || reason !== before.reason || secondsToFinal !== before.secondsToFinal;
}

/** How far the final block lags behind the head, by the chain's own clock. */
function lagSeconds(cursor: ConditionCursor): number {
  return Math.max(0, (cursor.head_time.getTime() - cursor.final_time.getTime()) / 1_000);
}

/** Acceptable seconds without a new block, or beyond the usual time to finality. */
const headSlackSeconds = 60;
const finalitySlackSeconds = 300;

function conditionOf(
  { verification, clock }: ConditionOptions,
  chain: Chain,
  cursor: ConditionCursor | undefined,
  samples: readonly number[],
): ChainCondition {
  const expected = expectedSecondsToFinal(chain);
  if (verification.problemOf(chain.chainId) !== undefined)
    return { status: 'unavailable', reason: 'chain_unverified', secondsToFinal: expected };
  if (cursor === undefined) return { ...notFollowed, secondsToFinal: expected };
  const blocks = Number(cursor.head_number - cursor.final_number);
  const blockSeconds = blocks === 0 ? 0 : lagSeconds(cursor) / blocks;
  // The maximum of the last minutes, so that the figure holds in any part of an epoch.
  const measured = Math.ceil(Math.max(...samples) + blockSeconds + chain.pollIntervalMs / 1_000);
  // With head and final block equal, there is no measurement: the chain is final at once, or has just begun.
  const secondsToFinal = blocks === 0 && Math.max(...samples) === 0 ? expected : Math.max(1, measured);
  if (cursor.halted_reason !== '') return { status: 'unavailable', reason: 'chain_halted', secondsToFinal };
  const headAge = (clock.now().getTime() - cursor.head_time.getTime()) / 1_000;
  const isLagging =
    headAge > headSlackSeconds + 10 * blockSeconds ||
    lagSeconds(cursor) > 2 * expected + finalitySlackSeconds;
  return isLagging
    ? { status: 'delayed', reason: 'chain_lagging', secondsToFinal }
    : { status: 'available', reason: '', secondsToFinal };
}

/** The figure until a measurement exists: configured, else the chain's default, else one block per second. */
export function expectedSecondsToFinal({ chainId, finality }: Chain): number {
  if (finality.expectedSeconds !== undefined) return finality.expectedSeconds;
  return Math.max(findKnownChain(chainId)?.secondsToFinal?.[finality.tag] ?? 0, finality.depth) + 2;
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
