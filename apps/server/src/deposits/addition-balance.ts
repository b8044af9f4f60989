import { boundTo, type Rpc, RpcError, RpcUnavailable } from '@florin/evm';
import type { Hex } from '@florin/protocol/order.ts';
import type { Token } from '@florin/protocol/token.ts';
import type { Chain } from '#chains/chain.ts';
import type { DepositPolicy } from '#orders/context.ts';
import type { Clock } from '#outside/clock.ts';
import type { Log } from '#telemetry/log.ts';
import { readBalances } from './deposit-call.ts';

/** What settlers have of one token together for additions to short deposits, and what they should have, in its units. */
export interface AdditionBalance {
  readonly token: Token;
  readonly balance: bigint;
  /** Of one day's additions. */
  readonly needed: bigint;
}

type Policy = Pick<DepositPolicy, 'underpaidPpm' | 'underpaidAmount' | 'addedAboveFee' | 'addedPerDay'>;

/** Whether the operator has chosen to add to short deposits. What single links allow besides is bounded by their own fees. */
function isAdding({ underpaidPpm, underpaidAmount, addedAboveFee }: Policy): boolean {
  return underpaidPpm > 0 || (underpaidAmount ?? 0n) > 0n || addedAboveFee > 0n;
}

/**
 * Reads what settlers hold for additions, for each token of a chain; nothing where the operator adds nothing. They take
 * turns, so that their sum is what counts. Throws `RpcUnavailable` when no node answers.
 */
export async function readAdditionBalances(
  rpc: Rpc,
  { tokens }: Pick<Chain, 'tokens'>,
  settlers: readonly Hex[],
  policy: Policy | undefined,
): Promise<readonly AdditionBalance[]> {
  if (policy === undefined || !isAdding(policy)) return [];
  const holdings = tokens.flatMap(({ address: token }) => settlers.map((holder) => ({ token, holder })));
  const amounts = await readBalances(rpc, holdings, 'latest');
  return tokens.map((token, index) => {
    const own = amounts.slice(index * settlers.length, (index + 1) * settlers.length);
    const balance = own.reduce((sum, amount) => sum + amount, 0n);
    return { token, balance, needed: policy.addedPerDay * 10n ** BigInt(token.decimals - 6) };
  });
}

const lookIntervalMs = 60_000;

export interface AdditionWatch {
  readonly rpcOf: (chainId: number) => Rpc;
  readonly clock: Clock;
  readonly log: Log;
  readonly settlers: readonly Hex[];
  readonly settings: { readonly deposits?: Policy };
}

/** Tells the operator when a chain's settlers hold less of a token than a day's additions, and when they hold it again. */
export async function watchAdditions(watch: AdditionWatch, chain: Chain, signal: AbortSignal): Promise<void> {
  const rpc = boundTo(watch.rpcOf(chain.chainId), signal);
  const low = new Set<string>();
  while (!signal.aborted) {
    await lookAtAdditions(watch, chain, rpc, low);
    await watch.clock.sleep(lookIntervalMs, signal);
  }
}

/** One look; `low` holds the tokens of which there was too little at the last one. */
export async function lookAtAdditions(
  { log, settlers, settings }: Omit<AdditionWatch, 'rpcOf' | 'clock'>,
  chain: Chain,
  rpc: Rpc,
  low: Set<string>,
): Promise<void> {
  try {
    for (const { token, balance, needed } of await readAdditionBalances(
      rpc,
      chain,
      settlers,
      settings.deposits,
    )) {
      const { tokenId } = token;
      const fields = { token: tokenId, balance: balance.toString(), needed: needed.toString() };
      const isLow = balance < needed;
      if (isLow && !low.has(tokenId))
        log.error('deposits.additions_low', new Error("settlers hold less than a day's additions"), fields);
      if (!isLow && low.has(tokenId)) log.info('deposits.additions_enough', fields);
      if (isLow) low.add(tokenId);
      else low.delete(tokenId);
    }
  } catch (error) {
    // The sender's own loop says what is wrong with the nodes.
    if (!(error instanceof RpcUnavailable || error instanceof RpcError)) throw error;
  }
}
