import type { Queryable } from '@florin/pg';
import type { Hex } from 'viem';
import { getBalance, getGasPrice } from '../nodes/actions.ts';
import { boundTo, type Rpc, RpcError, RpcUnavailable } from '../nodes/rpc.ts';
import type { FollowedChain } from '../watcher/chain.ts';
import type { SenderContext } from './context.ts';
import { offeredSince } from './sender.sql.ts';

/** The balance of a wallet on one chain, and the balance that it needs for gas, in wei. */
export interface GasBalance {
  readonly balance: bigint;
  /** The recent use of three days, but at least the reserve. */
  readonly needed: bigint;
}

const burnDays = 3;
const dayMs = 86_400_000;
/** The gas of some ten large batches, which an idle wallet should be able to pay. */
export const gasReserve = 20_000_000n;

/**
 * Reads a wallet's balance for gas. Without a database, only the reserve counts. Throws `RpcUnavailable` and
 * `RpcError`.
 */
export async function readGasBalance(
  { db, rpc }: { db?: Queryable; rpc: Rpc },
  { chainId, wallet, now }: { chainId: number; wallet: Hex; now: Date },
): Promise<GasBalance> {
  const since = new Date(now.getTime() - burnDays * dayMs);
  const [row] =
    (await db?.query(offeredSince, { chainId, wallet: wallet.toLowerCase(), createdAt: since })) ?? [];
  const [balance, gasPrice] = await Promise.all([getBalance(rpc, wallet), getGasPrice(rpc)]);
  const burnt = (row?.wei ?? 0n) / 2n;
  const reserve = gasReserve * gasPrice;
  return { balance, needed: burnt > reserve ? burnt : reserve };
}

const checkIntervalMs = 60_000;

/** Logs when a wallet's gas no longer lasts three days, and when it lasts again. */
export async function watchGas(
  context: SenderContext,
  chain: FollowedChain,
  signal: AbortSignal,
): Promise<void> {
  const rpc = boundTo(context.rpcOf(chain.chainId), signal);
  let wasLow = false;
  while (!signal.aborted) {
    wasLow = (await checkGas(context, chain, rpc, wasLow)) ?? wasLow;
    await context.clock.sleep(checkIntervalMs, signal);
  }
}

/** Whether the gas is low; undefined when no node or database answers. */
export async function checkGas(
  { db, log, clock, wallet }: SenderContext,
  { chainId }: FollowedChain,
  rpc: Rpc,
  wasLow: boolean,
): Promise<boolean | undefined> {
  try {
    const asked = { chainId, wallet: wallet.address, now: clock.now() };
    const { balance, needed } = await readGasBalance({ db, rpc }, asked);
    const isLow = balance < needed;
    const fields = {
      chainId,
      wallet: wallet.address,
      balance: balance.toString(),
      needed: needed.toString(),
    };
    if (isLow && !wasLow)
      log.error('sender.gas_low', new Error('the gas lasts less than three days'), fields);
    if (!isLow && wasLow) log.info('sender.gas_enough', fields);
    return isLow;
  } catch (error) {
    // The sender's own loop logs faults of nodes.
    if (!(error instanceof RpcUnavailable || error instanceof RpcError)) {
      log.warn('sender.gas_unknown', {
        chainId,
        reason: error instanceof Error ? error.message : String(error),
      });
    }
    return undefined;
  }
}
