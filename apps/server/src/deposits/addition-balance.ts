import { boundTo, type Rpc, RpcError, RpcUnavailable } from '@florin/evm';
import type { Hex } from '@florin/protocol/order.ts';
import type { Token } from '@florin/protocol/token.ts';
import type { Chain } from '#chains/chain.ts';
import type { DepositPolicy } from '#orders/context.ts';
import type { DepositContext } from './context.ts';
import { readDepositBalances } from './deposit-call.ts';

/** What all settlers together hold of a token for additions to short deposits, and what they should hold, in its units. */
export interface AdditionBalance {
  readonly token: Token;
  readonly balance: bigint;
  /** The most that is added in one day. */
  readonly needed: bigint;
}

/** Whether the operator adds to short deposits. The tolerance of a single link is paid by its own fees. */
function isAdding({ underpaidPpm, underpaidAmount, addedAboveFee }: DepositPolicy): boolean {
  return underpaidPpm > 0 || (underpaidAmount ?? 0n) > 0n || addedAboveFee > 0n;
}

/**
 * Reads what settlers hold for additions, for each token of a chain; nothing when the operator adds nothing. Settlers take
 * turns, so their sum counts. Throws `RpcUnavailable` when no node answers.
 */
export async function readAdditionBalances(
  rpc: Rpc,
  { tokens }: Pick<Chain, 'tokens'>,
  settlers: readonly Hex[],
  policy: DepositPolicy | undefined,
): Promise<readonly AdditionBalance[]> {
  if (policy === undefined || !isAdding(policy)) return [];
  const holdings = tokens.flatMap(({ address: token }) => settlers.map((holder) => ({ token, holder })));
  const amounts = await readDepositBalances(rpc, holdings, 'latest');
  return tokens.map((token, index) => {
    const own = amounts.slice(index * settlers.length, (index + 1) * settlers.length);
    const balance = own.reduce((sum, amount) => sum + amount, 0n);
    return { token, balance, needed: policy.addedPerDay * 10n ** BigInt(token.decimals - 6) };
  });
}

const checkIntervalMs = 60_000;

/** Logs when a chain's settlers hold less of a token than a day's additions, and when they hold enough again. */
export async function watchAdditions(
  { rpcOf, clock, log, settings }: Pick<DepositContext, 'rpcOf' | 'clock' | 'log' | 'settings'>,
  settlers: readonly Hex[],
  chain: Chain,
  signal: AbortSignal,
): Promise<void> {
  const rpc = boundTo(rpcOf(chain.chainId), signal);
  const low = new Set<string>();
  while (!signal.aborted) {
    try {
      reportAdditions(log, await readAdditionBalances(rpc, chain, settlers, settings.deposits), low);
    } catch (error) {
      // The sender's own loop reports problems of the nodes.
      if (!(error instanceof RpcUnavailable || error instanceof RpcError)) throw error;
    }
    await clock.sleep(checkIntervalMs, signal);
  }
}

/** Logs the changes since the last check; `low` holds the tokens of which there was too little. */
export function reportAdditions(
  log: DepositContext['log'],
  balances: readonly AdditionBalance[],
  low: Set<string>,
): void {
  for (const { token, balance, needed } of balances) {
    const { tokenId } = token;
    const fields = { token: tokenId, balance: balance.toString(), needed: needed.toString() };
    const [isLow, wasLow] = [balance < needed, low.has(tokenId)];
    if (isLow && !wasLow)
      log.error('deposits.additions_low', new Error("settlers hold less than a day's additions"), fields);
    if (!isLow && wasLow) log.info('deposits.additions_enough', fields);
    if (isLow) low.add(tokenId);
    else low.delete(tokenId);
  }
}
