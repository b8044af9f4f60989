import type { Queryable } from '@florin/pg';
import type { PageDeposit } from '@florin/protocol/checkout-api.ts';
import { formatTimestamp } from '@florin/protocol/schema.ts';
import type { SessionDeposit } from '@florin/protocol/session.ts';
import type { DepositTransfer } from '@florin/protocol/session-history.ts';
import { getAddress, isAddress } from 'viem';
import type { Chains } from '#chains/chain.ts';
import { microUsdOf, minReportedAmount } from '#exceptions/deposit-exception.ts';
import { type Clock, unixSeconds } from '#outside/clock.ts';
import type { StoredSession } from '#sessions/stored-session.ts';
import { decisionEnd } from './deposit.machine.ts';
import { collectionOfOrder, depositsOfSessions, transfersOfSession } from './deposit-search.sql.ts';

interface ViewContext {
  readonly chains: Chains;
  readonly clock: Clock;
}

/**
 * What has arrived at the deposit addresses of sessions that wait for their payment, as the loops of this room last saw
 * it. Omits sessions without any, and dust. It tells addresses apart by their ends: they belong to the payer who asked
 * for them.
 */
async function findSessionDeposits(
  queryable: Queryable,
  { chains, clock }: ViewContext,
  sessionIds: readonly string[],
): Promise<ReadonlyMap<string, readonly SessionDeposit[]>> {
  const found = await findPageDeposits(queryable, { chains, clock }, sessionIds);
  const withoutPages = ({ onlyFor: _onlyFor, decideBy, ...deposit }: FoundDeposit) =>
    decideBy === undefined ? deposit : [];
  return new Map([...found].map(([sessionId, deposits]) => [sessionId, deposits.flatMap(withoutPages)]));
}

export interface FoundDeposit extends PageDeposit {
  /** Of an expired session: until when the merchant may accept it; empty where it goes back by the terms. */
  readonly decideBy?: string;
}

/**
 * The same for pages, each of which shows only its own of those that were asked for without the session's secret. Of an
 * expired session: too little money that is not yet an exception.
 */
export async function findPageDeposits(
  queryable: Queryable,
  { chains, clock }: ViewContext,
  sessionIds: readonly string[],
): Promise<ReadonlyMap<string, readonly FoundDeposit[]>> {
  const rows = await queryable.query(depositsOfSessions, { sessionIds, now: unixSeconds(clock.now()) });
  const found = new Map<string, FoundDeposit[]>();
  for (const { session_id: sessionId, only_for: onlyFor, total, amount, ...row } of rows) {
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
      ...(onlyFor === '' ? {} : { onlyFor }),
      ...(row.is_over ? { decideBy: decideByOf(row.late_until) } : {}),
    };
    found.set(sessionId, [...(found.get(sessionId) ?? []), deposit]);
  }
  return found;
}

/** Until when a merchant may accept money that is payable until a time; empty where it goes back by the terms. */
function decideByOf(lateUntil: bigint | null): string {
  return lateUntil === null ? '' : formatTimestamp(decisionEnd(Number(lateUntil)));
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

/** What sessions of a page that may wait for the rest of their payment have received. */
export function depositsOfPage(
  queryable: Queryable,
  deps: ViewContext,
  views: readonly { readonly session: StoredSession }[],
): Promise<ReadonlyMap<string, readonly SessionDeposit[]>> {
  const waiting = views.filter(({ session }) => session.status === 'initialized' && session.signedOnce);
  if (waiting.length === 0) return Promise.resolve(new Map());
  return findSessionDeposits(
    queryable,
    deps,
    waiting.map(({ session }) => session.sessionId),
  );
}

/** Transfers that one history shows. */
/** Whether a deposit pays the order: its payer is then the refund address, and anyone may have sent the money. */
export async function isCollected(queryable: Queryable, orderId: string): Promise<boolean> {
  return (await queryable.query(collectionOfOrder, { orderId })).length > 0;
}

const maxTransfers = 50;

/** The transfers to the deposit addresses of a session, oldest first, in tokens of the installation. */
export async function findDepositTransfers(
  queryable: Queryable,
  { chains }: Pick<ViewContext, 'chains'>,
  sessionId: string,
): Promise<DepositTransfer[]> {
  const rows = await queryable.query(transfersOfSession, { sessionId, limit: maxTransfers });
  return rows.flatMap((row) => {
    const token = chains.tokenAt(Number(row.chain_id), row.token);
    if (token === undefined) return [];
    return {
      tokenId: token.tokenId,
      amountInToken: row.amount.toString(),
      chainId: String(row.chain_id),
      txHash: row.tx_hash,
      blockNumber: Number(row.block_number),
      at: formatTimestamp(row.seen_at),
      isFinal: row.is_final,
    };
  });
}
