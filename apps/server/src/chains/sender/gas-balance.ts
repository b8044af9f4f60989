import { boundTo, getBalance, getGasPrice, type Rpc, RpcError, RpcUnavailable } from '@florin/evm';
import type { Queryable } from '@florin/pg';
import type { Hex } from '@florin/protocol/order.ts';
import type { Chain } from '../chain.ts';
import type { SenderContext } from './context.ts';
import { offeredSince } from './sender.sql.ts';

/** What a wallet has for gas on one chain, and what it should have, in wei. */
export interface GasBalance {
  readonly balance: bigint;
  /** Three days of what it used lately, and no less than some ten full batches. */
  readonly needed: bigint;
}

const burnDays = 3;
const dayMs = 86_400_000;
/** Gas of some ten full batches of settlements: what a wallet that has sent nothing lately should be able to pay. */
export const gasReserve = 20_000_000n;

/** Looks what a wallet has for gas; without a database, what it used does not count. Throws `RpcUnavailable` and `RpcError`. */
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

const lookIntervalMs = 60_000;

/** Tells the operator when a wallet's gas does not last three days any more, and when it does again. */
export async function watchGas(context: SenderContext, chain: Chain, signal: AbortSignal): Promise<void> {
  const rpc = boundTo(context.rpcOf(chain.chainId), signal);
  let wasLow = false;
  while (!signal.aborted) {
    wasLow = (await lookAtGas(context, chain, rpc, wasLow)) ?? wasLow;
    await context.clock.sleep(lookIntervalMs, signal);
  }
}

/** Whether the gas is low; undefined when that cannot be learnt now. */
export async function lookAtGas(
  { db, log, clock, wallet }: SenderContext,
  { chainId }: Chain,
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
    // The sender's own loop says what is wrong with the nodes, and the database's users with the database.
    if (!(error instanceof RpcUnavailable || error instanceof RpcError)) {
      log.warn('sender.gas_unknown', {
        chainId,
        reason: error instanceof Error ? error.message : String(error),
      });
    }
    return undefined;
  }
}
