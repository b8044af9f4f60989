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

export interface ConditionOptions {
  readonly chains: readonly Chain[];
  readonly rpcOf: (chainId: number) => Rpc;
  readonly db: Queryable;
  readonly clock: Clock;
  readonly log: Log;
}

/** Keeps what is known of the chains at the moment in memory, so that no request waits for a look at them. */
export interface ConditionKeeper {
  readonly conditions: ChainConditions;
  /** Looks once. Never rejects: what cannot be learnt stays as it was. */
  refresh(signal: AbortSignal): Promise<void>;
  /** Looks again and again until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

const refreshIntervalMs = 2_000;
/** Caps of the vaults change by an operator's hand, once in months. */
const capIntervalMs = 60_000;
/** Looks whose lag is remembered: ten minutes, longer than an epoch of Ethereum, within which its finality swings. */
const maxSamples = 300;

interface Memory {
  readonly samples: number[];
  condition: ChainCondition;
}

/** Makes the keeper; until its first look every chain has the defaults, and nothing is paid out of a vault. */
export function conditionKeeper(options: ConditionOptions): ConditionKeeper {
  const memories = new Map(
    options.chains.map((chain): [number, Memory] => [
      chain.chainId,
      { samples: [], condition: conditionOf(chain, undefined, [], options.clock.now()) },
    ]),
  );
  const caps = new Map<string, MicroUsd>();
  const liquidities = new Map<string, MicroUsd>();
  let version = 0;
  let capsReadAtMs = Number.NEGATIVE_INFINITY;
  const look = async () => {
    const rows = await options.db.query(cursorsOfChains, {
      chainIds: options.chains.map(({ chainId }) => chainId),
    });
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
    // A vault that did not answer is asked again at the next look.
    if (isComplete.every(Boolean)) capsReadAtMs = options.clock.monotonicMs();
  };
  const lookSafely = () => look().catch((error) => warn(options, error));
  return {
    conditions: {
      version: () => version,
      of: (chainId) => memories.get(chainId)?.condition ?? notFollowed,
      payoutCap: (tokenId) => caps.get(tokenId) ?? microUsd(0n),
      payoutLiquidity: (tokenId) => liquidities.get(tokenId) ?? microUsd(0n),
    },
    async refresh(signal) {
      await Promise.all([lookSafely(), readCaps(signal)]);
    },
    async run(signal) {
      // Apart, so that a node that does not answer holds up no look at the cursors.
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

/** Takes one look at a chain into account; true when that changes what callers are told. */
function observe(
  { clock, log }: ConditionOptions,
  chain: Chain,
  memory: Memory,
  cursor: ConditionCursor | undefined,
): boolean {
  if (cursor !== undefined) memory.samples.push(lagSeconds(cursor));
  if (memory.samples.length > maxSamples) memory.samples.shift();
  const before = memory.condition;
  memory.condition = conditionOf(chain, cursor, memory.samples, clock.now());
  const { status, reason, secondsToFinal } = memory.condition;
  if (status !== before.status || reason !== before.reason) {
    log.warn('chain.condition_changed', { chain: chain.name, status, reason });
  }
  return status !== before.status || reason !== before.reason || secondsToFinal !== before.secondsToFinal;
}

/** How far the final block lies behind the head, by the chain's own clock. */
function lagSeconds(cursor: ConditionCursor): number {
  return Math.max(0, (cursor.head_time.getTime() - cursor.final_time.getTime()) / 1_000);
}

/** Seconds without a new block, or beyond the usual time to finality, that are no reason for worry yet. */
const headSlackSeconds = 60;
const finalitySlackSeconds = 300;

function conditionOf(
  chain: Chain,
  cursor: ConditionCursor | undefined,
  samples: readonly number[],
  now: Date,
): ChainCondition {
  const expected = expectedSecondsToFinal(chain);
  if (cursor === undefined) return { ...notFollowed, secondsToFinal: expected };
  const blocks = Number(cursor.head_number - cursor.final_number);
  const blockSeconds = blocks === 0 ? 0 : lagSeconds(cursor) / blocks;
  // The worst of the last minutes: who pays now is promised what holds in any part of an epoch.
  const measured = Math.ceil(Math.max(...samples) + blockSeconds + chain.pollIntervalMs / 1_000);
  // Where head and final block are one block, nothing is measured: the chain is final at once, or has just begun.
  const secondsToFinal = blocks === 0 && Math.max(...samples) === 0 ? expected : Math.max(1, measured);
  if (cursor.halted_reason !== '') return { status: 'unavailable', reason: 'chain_halted', secondsToFinal };
  const headAge = (now.getTime() - cursor.head_time.getTime()) / 1_000;
  const isLagging =
    headAge > headSlackSeconds + 10 * blockSeconds ||
    lagSeconds(cursor) > 2 * expected + finalitySlackSeconds;
  return isLagging
    ? { status: 'delayed', reason: 'chain_lagging', secondsToFinal }
    : { status: 'available', reason: '', secondsToFinal };
}

/** What counts until something is measured: as configured, else as known of the chain, else a block a second. */
export function expectedSecondsToFinal({ chainId, finality }: Chain): number {
  if (finality.expectedSeconds !== undefined) return finality.expectedSeconds;
  return Math.max(findKnownChain(chainId)?.secondsToFinal?.[finality.tag] ?? 0, finality.depth) + 2;
}

interface VaultSays {
  readonly tokenId: string;
  readonly cap: MicroUsd;
  readonly liquidity: MicroUsd;
}

/** What a chain's vault pays for one order at most, and now, by token; undefined when the chain gave no answer. */
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

/** An order that is within its own cap but over those of a whole hour or day would wait for ever. */
function capOf(
  token: Token,
  { perOrder, hourly, daily }: { perOrder: bigint; hourly: bigint; daily: bigint },
): MicroUsd {
  const least = [perOrder, hourly, daily].reduce((left, right) => (left < right ? left : right));
  return microUsd(least / unitsPerMicroUsd(token.decimals));
}
