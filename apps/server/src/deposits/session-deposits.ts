import type { Queryable } from '@florin/pg';
import type { PageDeposit } from '@florin/protocol/checkout-state.ts';
import type { PaymentException } from '@florin/protocol/exception.ts';
import type { SessionDeposit } from '@florin/protocol/session.ts';
import type { DepositTransfer } from '@florin/protocol/session-history.ts';
import { formatTimestamp } from '@florin/protocol/timestamp.ts';
import { getAddress, isAddress } from 'viem';
import type { Chains } from '#chains/chain.ts';
import { microUsdOf, minReportedAmount } from '#exceptions/deposit-exception.ts';
import { type Clock, unixSeconds } from '#outside/clock.ts';
import type { StoredSession } from '#sessions/stored-session.ts';
import { decisionEnd } from './deposit.machine.ts';
import {
  collectionsOfOrders,
  depositsOfSessions,
  receivedOrderOfSession,
  surplusOfSessions,
  transfersOfSession,
} from './deposit-search.sql.ts';

interface ViewContext {
  readonly chains: Chains;
  readonly clock: Clock;
}

/**
 * What has arrived at the deposit addresses of sessions that wait for their payment, as the loops of this room last saw
 * it. Omits sessions without any, dust, and what a halted chain may have lost. It tells addresses apart by their ends: they
 * belong to the payer who asked for them.
 */
async function findSessionDeposits(
  queryable: Queryable,
  { chains, clock }: ViewContext,
  sessionIds: readonly string[],
): Promise<ReadonlyMap<string, readonly SessionDeposit[]>> {
  const found = await findPageDeposits(queryable, { chains, clock }, sessionIds);
  return new Map([...found].map(([sessionId, deposits]) => [sessionId, deposits.flatMap(withoutPages)]));
}

function withoutPages(deposit: FoundDeposit): SessionDeposit | [] {
  const { onlyFor: _onlyFor, ...shown } = pageDepositOf(deposit);
  return deposit.late === undefined && !deposit.isInDoubt ? shown : [];
}

/** What a page tells of a deposit. */
export function pageDepositOf({
  orderId: _orderId,
  walletOrderId: _walletOrderId,
  late: _late,
  isInDoubt: _isInDoubt,
  ...deposit
}: FoundDeposit): PageDeposit {
  return deposit;
}

export interface FoundDeposit extends PageDeposit {
  /** The order whose receiver contract is the address. */
  readonly orderId: string;
  /** The order that a wallet pays instead; the same where the address has no terms of its own. */
  readonly walletOrderId: string;
  /** Its chain is halted, and until it has begun again the service does not know whether the money is there. */
  readonly isInDoubt: boolean;
  /** Of an expired session: what is decided about the money by the terms, as of the exception that it becomes. */
  readonly late?: Pick<PaymentException, 'decision' | 'decideBy'>;
}

/**
 * The same for pages, each of which shows only its own of those that were asked for without the session's secret. Of an
 * expired session: money that is not yet an exception.
 */
export async function findPageDeposits(
  queryable: Queryable,
  { chains, clock }: ViewContext,
  sessionIds: readonly string[],
): Promise<ReadonlyMap<string, readonly FoundDeposit[]>> {
  const now = clock.now();
  const rows = await queryable.query(depositsOfSessions, { sessionIds, now: unixSeconds(now) });
  const found = new Map<string, FoundDeposit[]>();
  for (const { session_id: sessionId, only_for: onlyFor, total, amount, ...row } of rows) {
    const token = chains.token(row.token_id);
    if (token === undefined || microUsdOf(token, amount) < minReportedAmount) continue;
    const { tokenId, chainId, symbol, decimals } = token;
    const deposit = {
      orderId: row.order_id,
      walletOrderId: row.wallet_order_id,
      tokenId,
      chainId: String(chainId),
      symbol,
      decimals,
      addressEnd: isAddress(row.receiver) ? getAddress(row.receiver).slice(-4) : '',
      amountInToken: amount.toString(),
      finalInToken: row.final_amount.toString(),
      missingInToken: (amount < total ? total - amount : 0n).toString(),
      payUntil: Number(row.pay_until),
      isInDoubt: row.is_in_doubt,
      ...(onlyFor === '' ? {} : { onlyFor }),
      ...(row.is_over ? { late: decisionOf(row, { isWhole: amount >= total, now }) } : {}),
    };
    found.set(sessionId, [...(found.get(sessionId) ?? []), deposit]);
  }
  return found;
}

/** Money at an address of a session whose payment is in a block, beside that payment. */
export interface Surplus {
  readonly sessionId: string;
  readonly orderId: string;
  readonly tokenId: string;
  readonly amountInToken: string;
  /** Whether its order was asked for without the session's secret. */
  readonly isUnproven: boolean;
}

/** What came to addresses of paid sessions beside the payment, until exceptions show it. Omits dust. */
export async function findSurplus(
  queryable: Queryable,
  { chains }: Pick<ViewContext, 'chains'>,
  sessionIds: readonly string[],
): Promise<readonly Surplus[]> {
  if (sessionIds.length === 0) return [];
  const rows = await queryable.query(surplusOfSessions, { sessionIds });
  return rows.flatMap((row) => {
    const { session_id: sessionId, order_id: orderId, token_id: tokenId, amount } = row;
    const token = chains.token(tokenId);
    if (token === undefined || amount <= 0n || microUsdOf(token, amount) < minReportedAmount) return [];
    return { sessionId, orderId, tokenId, amountInToken: amount.toString(), isUnproven: !row.with_secret };
  });
}

/**
 * The order with whose id pages show the address that ends in some characters, once money has arrived there; undefined where
 * no such address of the session takes the rest, or it was asked for without the session's secret.
 */
export async function findReceivedOrder(
  queryable: Queryable,
  { clock }: Pick<ViewContext, 'clock'>,
  { sessionId, end }: { readonly sessionId: string; readonly end: string },
): Promise<string | undefined> {
  const [row] = await queryable.query(receivedOrderOfSession, {
    ...{ sessionId, end, now: unixSeconds(clock.now()) },
  });
  return row?.order_id;
}

/** What the terms say about late money: a merchant who takes all of it takes the whole amount; no decision is made about what goes back. */
function decisionOf(
  { late_until: lateUntil, is_late_accepted: isLateAccepted }: LateTerms,
  { isWhole, now }: { readonly isWhole: boolean; readonly now: Date },
): Pick<PaymentException, 'decision' | 'decideBy'> {
  if (lateUntil === null) return { decision: '', decideBy: '' };
  const end = decisionEnd(Number(lateUntil));
  const isAccepted = isLateAccepted && isWhole && now < end;
  return { decision: isAccepted ? 'accept' : '', decideBy: formatTimestamp(end) };
}

interface LateTerms {
  readonly late_until: bigint | null;
  readonly is_late_accepted: boolean;
}

/**
 * The same for one session, and whether a halted chain may have lost some of it. A session without an order has no deposit
 * address, so it costs no statement.
 */
export async function depositsOf(
  queryable: Queryable,
  deps: ViewContext,
  { sessionId, status, signedOnce }: Pick<StoredSession, 'sessionId' | 'status' | 'signedOnce'>,
): Promise<{ readonly deposits: readonly SessionDeposit[]; readonly isInDoubt: boolean }> {
  if (status !== 'initialized' || !signedOnce) return { deposits: [], isInDoubt: false };
  const found = (await findPageDeposits(queryable, deps, [sessionId])).get(sessionId) ?? [];
  return { deposits: found.flatMap(withoutPages), isInDoubt: found.some(({ isInDoubt }) => isInDoubt) };
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

/** The orders that a deposit pays: their payer is the refund address, and anyone may have sent the money. */
export async function collectedOf(
  queryable: Queryable,
  orderIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (orderIds.length === 0) return new Set();
  const rows = await queryable.query(collectionsOfOrders, { orderIds });
  return new Set(rows.map((row) => row.order_id));
}

/** Transfers that one history shows. */
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
