import type { Transaction } from '@florin/pg';
import type { ExceptionKind } from '@florin/protocol/exception.ts';
import { type MicroUsd, microUsd } from '@florin/protocol/money.ts';
import type { Token } from '@florin/protocol/token.ts';
import type { Chains } from '#chains/chain.ts';
import type { ChainEvent } from '#contracts/event.ts';
import type { StoredOrder } from '#orders/stored-order.ts';
import type { LockedOrder } from '#sessions/event-order.ts';
import type { StoredSession } from '#sessions/stored-session.ts';
import { depositExceptions, type ExceptionRow, showAmount } from './exception.sql.ts';
import { type ExceptionContext, type RaisedException, raise, tell } from './exception.ts';

/** The smallest amount that is reported to a merchant, in Micro-USD: anyone can send dust to an address. */
export const minReportedAmount = microUsd(10_000n);

/** Units of a token in Micro-USD, rounded down. */
export function microUsdOf({ decimals }: Pick<Token, 'decimals'>, amount: bigint): MicroUsd {
  const value = amount / 10n ** BigInt(decimals - 6);
  return microUsd(value < BigInt(Number.MAX_SAFE_INTEGER) ? value : BigInt(Number.MAX_SAFE_INTEGER));
}

function isNews(token: Token, amount: bigint): boolean {
  return amount > 0n && microUsdOf(token, amount) >= minReportedAmount;
}

/** Money that a final block shows at a deposit address. */
export interface DepositException extends Omit<RaisedException, 'money' | 'txHash'> {
  readonly token: Token;
  /** All that is there, in units of the token. */
  readonly amount: bigint;
  readonly finalBlock: bigint;
}

/**
 * Reports money at a deposit address to the merchant: a first deposit as an exception, and more of it as a larger amount of
 * the same exception with another event. Money that comes after it went back is an exception of its own. An observation
 * that is older than the last return reports nothing. The caller holds the session's row lock.
 */
export async function raiseDeposit(
  transaction: Transaction,
  deps: ExceptionContext,
  { token, amount, finalBlock, ...raised }: DepositException,
): Promise<void> {
  const { order, kind, session } = raised;
  const { tokenId } = token;
  const rows = await transaction.query(depositExceptions, { orderId: order.orderId, tokenId });
  if (rows.some((row) => row.resolved_block !== null && row.resolved_block > finalBlock)) return;
  const current = rows.find((row) => row.kind === kind && row.resolved_tx === '');
  if (current === undefined || current.loss === 'gone') {
    await raise(transaction, deps, { ...raised, money: { tokenId, amount }, txHash: '' });
    return;
  }
  // An accepted deposit grows by the operator's addition.
  if (current.decision === 'accept') return;
  if (amount <= current.amount_in_token) return;
  const row = await show(transaction, deps, { exceptionId: current.exception_id, amount });
  // Dust changes the amount that the merchant decides about, and is no news.
  if (isNews(token, amount - current.amount_in_token)) await tell(transaction, deps, session, row);
}

/**
 * Reports money that went back to the payer as far as no exception shows it: it came and left between two observations, or
 * others sent it back. Call it before the return ends the exceptions. Returns what the payer is told: nothing of dust, nor of a
 * return that was told before.
 */
export async function tellReturned(
  transaction: Transaction,
  deps: ExceptionContext & { readonly chains: Chains },
  event: ChainEvent,
  { order, session }: LockedOrder,
): Promise<ReturnedMoney | undefined> {
  const token = deps.chains.tokenAt(event.chainId, event.arguments['token'] ?? '');
  if (token === undefined) return undefined;
  const { tokenId } = token;
  const rows = await transaction.query(depositExceptions, { orderId: order.orderId, tokenId });
  // The block is read again.
  if (rows.some((row) => row.resolved_tx === event.txHash)) return undefined;
  const amount = BigInt(event.arguments['value'] ?? '0');
  if (!isNews(token, amount)) return undefined;
  const value = microUsdOf(token, amount);
  const current = rows.filter((row) => row.resolved_tx === '');
  const last = current.at(-1);
  if (last === undefined) {
    const kind = kindOf(session, order, tokenId, amount);
    await raise(transaction, deps, { session, order, kind, money: { tokenId, amount }, txHash: '' });
    return { kind, tokenId, amount, value };
  }
  if (current.every((row) => isNews(token, amount - row.amount_in_token))) {
    const row = await show(transaction, deps, { exceptionId: last.exception_id, amount });
    await tell(transaction, deps, session, row);
  }
  return { kind: last.kind as ExceptionKind, tokenId, amount, value };
}

/** Money that went back to its payer by itself, and why it did not pay. */
export interface ReturnedMoney {
  readonly kind: ExceptionKind;
  readonly tokenId: string;
  /** In units of the token. */
  readonly amount: bigint;
  readonly value: MicroUsd;
}

async function show(
  transaction: Transaction,
  { clock }: Pick<ExceptionContext, 'clock'>,
  { exceptionId, amount }: { readonly exceptionId: string; readonly amount: bigint },
): Promise<ExceptionRow> {
  const changed = { exceptionId, amountInToken: amount, updatedAt: clock.now() };
  const [row] = await transaction.query(showAmount, changed);
  if (row === undefined) throw new Error(`the exception ${exceptionId} has vanished`);
  return row;
}

/** Why money that went back did not pay. */
function kindOf(
  session: StoredSession,
  { orderId, tokenId: ownTokenId, order: { total } }: StoredOrder,
  tokenId: string,
  amount: bigint,
): ExceptionKind {
  if (tokenId !== ownTokenId) return 'wrong_token';
  if (session.orderId !== '' && session.orderId !== orderId) return 'duplicate';
  // An expired session keeps the order of a payment that its chain took back.
  if (session.orderId === orderId && session.status !== 'expired') return 'overpaid';
  return amount < total ? 'underpaid' : 'late';
}
