import type { Queryable, Transaction } from '@florin/pg';
import { fieldRefusal, Refusal } from '@florin/protocol/error.ts';
import type { Clock } from '#outside/clock.ts';
import type { Chains } from './chain.ts';
import { deleteTokenStops, insertTokenStops, tokenStops } from './token-stop.sql.ts';

/** A token in which the operator takes no new orders. What was paid in it settles. */
export interface TokenStop {
  readonly tokenId: string;
  readonly reason: string;
  readonly stoppedAt: Date;
}

/** All stops, also of tokens that are no longer configured. */
export async function listTokenStops(queryable: Queryable): Promise<TokenStop[]> {
  return (await queryable.query(tokenStops)).map((row) => ({
    tokenId: row.token_id,
    reason: row.reason,
    stoppedAt: row.stopped_at,
  }));
}

/**
 * Stops new orders in a token: `base::usdc` on one chain, `usdc` on all. Every web process refuses them within two seconds.
 * Returns the ids of the tokens. Refuses a token that is not configured (400201).
 */
export async function stopToken(
  transaction: Transaction,
  deps: { readonly clock: Clock; readonly chains: Pick<Chains, 'tokens'> },
  { token, reason }: { readonly token: string; readonly reason: string },
): Promise<string[]> {
  const tokenIds = tokensNamed(
    deps.chains.tokens.map(({ tokenId }) => tokenId),
    token,
  );
  await transaction.query(insertTokenStops, { tokenIds, reason, at: deps.clock.now() });
  return tokenIds;
}

/** Takes orders in a token again, on one chain or all. Refuses a token that is not stopped (400101). */
export async function resumeToken(transaction: Transaction, token: string): Promise<string[]> {
  const stopped = (await listTokenStops(transaction)).map(({ tokenId }) => tokenId);
  const tokenIds = stopped.filter((tokenId) => isNamed(tokenId, token));
  if (tokenIds.length === 0) throw fieldRefusal('token', 'is not stopped');
  await transaction.query(deleteTokenStops, { tokenIds });
  return tokenIds;
}

/** The ids that a name means: `base::usdc` one, `usdc` those of all chains. Refuses a name that means none (400201). */
export function tokensNamed(tokenIds: readonly string[], token: string): string[] {
  const found = tokenIds.filter((tokenId) => isNamed(tokenId, token));
  if (found.length === 0) throw new Refusal('currency_unsupported', { detail: token, param: 'token' });
  return found;
}

function isNamed(tokenId: string, token: string): boolean {
  return tokenId === token || tokenId.endsWith(`::${token}`);
}
