import { RpcError, RpcUnavailable } from '@florin/evm';
import type { Token } from '@florin/protocol/token.ts';
import type { Chain } from '#chains/chain.ts';
import { readPausedTokens } from '#chains/token-pause.ts';
import type { Item } from './batch.ts';
import type { SettlementContext } from './context.ts';
import { delayAll } from './leg.ts';

/**
 * The items whose token moves. Those of a token that its issuer has paused wait, and show it. They are not sent: that would
 * cost gas, and a refused transfer does not say whether the token is paused or its recipient is blocked.
 */
export async function movingItems(
  deps: SettlementContext,
  chain: Chain,
  items: readonly Item[],
  tokenIdOf: (item: Item) => string | undefined,
): Promise<readonly Item[]> {
  const tokenIds = new Set(items.map(tokenIdOf));
  const paused = await pausedNow(
    deps,
    chain,
    chain.tokens.filter(({ tokenId }) => tokenIds.has(tokenId)),
  );
  if (paused.size === 0) return items;
  const isPaused = (item: Item) => paused.has(tokenIdOf(item) ?? '');
  const waiting = items.filter(isPaused).map(({ leg }) => leg);
  if (waiting.length > 0) await delayAll(deps, waiting, 'token_paused');
  return items.filter((item) => !isPaused(item));
}

/** Asked before each batch: a wrong reason would be shown until the payment is settled. A chain without an answer stops nothing. */
async function pausedNow(
  deps: SettlementContext,
  { chainId }: Chain,
  tokens: readonly Token[],
): Promise<ReadonlySet<string>> {
  try {
    return await readPausedTokens(deps.rpcOf(chainId), tokens);
  } catch (error) {
    if (!(error instanceof RpcUnavailable || error instanceof RpcError)) throw error;
    deps.log.warn('settlement.pause_unknown', { chainId, reason: error.message });
    return new Set();
  }
}
