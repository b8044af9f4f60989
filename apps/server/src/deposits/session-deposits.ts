import type { Queryable } from '@florin/pg';
import type { SessionDeposit } from '@florin/protocol/session.ts';
import { getAddress, isAddress } from 'viem';
import type { Chains } from '#chains/chain.ts';
import { microUsdOf, minReportedAmount } from '#exceptions/deposit-exception.ts';
import { type Clock, unixSeconds } from '#outside/clock.ts';
import type { StoredSession } from '#sessions/stored-session.ts';
import { depositsOfSessions } from './deposit-search.sql.ts';

interface ViewContext {
  readonly chains: Chains;
  readonly clock: Clock;
}

/**
 * What has arrived at the deposit addresses of sessions that wait for their payment, as the loops of this room last saw
 * it. Omits sessions without any, and dust. It tells addresses apart by their ends: they belong to the payer who asked
 * for them.
 */
export async function findSessionDeposits(
  queryable: Queryable,
  { chains, clock }: ViewContext,
  sessionIds: readonly string[],
): Promise<ReadonlyMap<string, readonly SessionDeposit[]>> {
  const rows = await queryable.query(depositsOfSessions, { sessionIds, now: unixSeconds(clock.now()) });
  const found = new Map<string, SessionDeposit[]>();
  for (const { session_id: sessionId, total, amount, ...row } of rows) {
    const token = chains.token(row.token_id);
    if (token === undefined || microUsdOf(token, amount) < minReportedAmount) continue;
    const { tokenId, chainId, symbol, decimals } = token;
    const deposit = {
      tokenId,
      chainId: String(chainId),
      symbol,
      decimals,
      addressEnd: isAddress(row.receiver) ? getAddress(row.receiver).slice(-4) : '',
      amountInToken: amount.toString(),
      finalInToken: row.final_amount.toString(),
      missingInToken: (amount < total ? total - amount : 0n).toString(),
      payUntil: Number(row.pay_until),
    };
    found.set(sessionId, [...(found.get(sessionId) ?? []), deposit]);
  }
  return found;
}

/** The same for one session. A session without an order has no deposit address, so it costs no statement. */
export async function depositsOf(
  queryable: Queryable,
  deps: ViewContext,
  { sessionId, status, signedOnce }: Pick<StoredSession, 'sessionId' | 'status' | 'signedOnce'>,
): Promise<readonly SessionDeposit[]> {
  if (status !== 'initialized' || !signedOnce) return [];
  return (await findSessionDeposits(queryable, deps, [sessionId])).get(sessionId) ?? [];
}
