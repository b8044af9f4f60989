import type { Queryable, Transaction } from '@florin/pg';
import type { Clock } from '#outside/clock.ts';
import type { StoredSession } from '#sessions/stored-session.ts';
import type { Log } from '#telemetry/log.ts';
import { lockDepositGas, sellersBySpentGas, spentDepositGas } from './deposit.sql.ts';

/**
 * What moves of deposit addresses may cost, in units of gas over the last 24 hours: for each payment link, or for a merchant's
 * sessions that come from none.
 */
export interface DepositBudgets {
  /** A collection pays an order; what is added to a short deposit is part of it. */
  readonly collections: number;
  /** Whoever sends what pays nothing gets it back at the service's cost, as often as they like. */
  readonly returns: number;
}

const dayMs = 86_400_000;

/** Since when gas and additions count. */
export function aDayAgo(clock: Clock): Date {
  return new Date(clock.now().getTime() - dayMs);
}

/** Whose budget a move counts in. */
export function sellerOf({ businessId, merchantId }: StoredSession): string {
  return businessId === '' ? merchantId : businessId;
}

type Move = 'collect' | 'rescue' | 'add';

/** What a collection takes, with the fifth that is kept in hand: it is set aside with the addition that comes before it. */
const collectionGas = 200_000n;

/** What a move counts in its seller's budget. */
export function gasOf(move: Move, gasLimit: bigint): bigint {
  return move === 'add' ? gasLimit + collectionGas : gasLimit;
}

/** The budgets of a seller, and what counts in them. */
const movesOf = { collections: ['collect', 'add'], returns: ['rescue'] } as const;
export type BudgetName = keyof typeof movesOf;

/** A move that is about to be recorded. */
export interface AskedMove {
  readonly seller: string;
  /** Whom a return goes to. */
  readonly payer: string;
  readonly move: Move;
  readonly gas: bigint;
}

export function budgetOf(move: Move): BudgetName {
  return move === 'rescue' ? 'returns' : 'collections';
}

/** What one payer's returns after the first one may have of their seller's budget of a day. */
const payerShare = 20n;
/** Beyond this part of the budget there is one return for each payer only. */
const repeatedPart = 2n;

/**
 * Whether a move keeps to its seller's budget; whose gas is used up where it does not. The first return of a payer in a day
 * may use all of the budget; further ones have a share of it, out of its first half: who sends again and again waits, and
 * not those who have sent once (docs/decisions/0046). Moves of one seller are recorded one after the other from here on, so
 * that together they keep to it, too.
 */
export async function gasVerdict(
  transaction: Transaction,
  { clock, budgets }: { readonly clock: Clock; readonly budgets: DepositBudgets | undefined },
  { seller, payer, move, gas }: AskedMove,
): Promise<'within' | 'seller_used_up' | 'payer_used_up'> {
  if (budgets === undefined) return 'within';
  const name = budgetOf(move);
  await transaction.query(lockDepositGas, { seller: `${name} ${seller}` });
  const spent = await spentGas(transaction, { clock, name, seller, payer });
  const budget = BigInt(budgets[name]);
  if (spent.bySeller + gas > budget) return 'seller_used_up';
  if (move !== 'rescue' || spent.byPayer === 0n) return 'within';
  const isShared = spent.byPayer + gas > budget / payerShare || spent.bySeller + gas > budget / repeatedPart;
  return isShared ? 'payer_used_up' : 'within';
}

async function spentGas(
  queryable: Queryable,
  asked: {
    readonly clock: Clock;
    readonly name: BudgetName;
    readonly seller: string;
    readonly payer: string;
  },
): Promise<{ readonly bySeller: bigint; readonly byPayer: bigint }> {
  const { clock, name, seller, payer } = asked;
  const [row] = await queryable.query(spentDepositGas, {
    seller,
    moves: movesOf[name],
    since: aDayAgo(clock),
    payer: payer.toLowerCase(),
  });
  return { bySeller: row?.gas ?? 0n, byPayer: row?.payer_gas ?? 0n };
}

/** Most budgets that are remembered as used up; of more than these nothing is told. */
const maxRemembered = 1_000;

/** What a process has told of budgets that are used up. Losing it costs repeated lines in the log. */
export interface ToldBudgets {
  /** By budget and seller: the gas of the move that did not fit. */
  readonly sellers: Map<string, { readonly name: BudgetName; readonly seller: string; readonly gas: bigint }>;
  /** Sellers of whose payers one has used up a share, and when that was told, in milliseconds. */
  readonly payers: Map<string, number>;
}

export function nothingTold(): ToldBudgets {
  return { sellers: new Map(), payers: new Map() };
}

interface Telling {
  readonly clock: Clock;
  readonly log: Log;
  /** Absent: everything is told each time. */
  readonly toldBudgets?: ToldBudgets;
}

/**
 * Tells that a move waits: once for each budget until it has room again, and once a day for each seller whose payers want
 * more returns than their share.
 */
export function tellWaiting(
  { clock, log, toldBudgets: told = nothingTold() }: Telling,
  verdict: 'seller_used_up' | 'payer_used_up',
  { seller, payer, move, gas }: AskedMove,
  order: { readonly chainId: number; readonly orderId: string },
): void {
  const name = budgetOf(move);
  const { chainId, orderId } = order;
  if (verdict === 'payer_used_up') {
    const now = clock.now().getTime();
    if (now - (told.payers.get(seller) ?? Number.NEGATIVE_INFINITY) < dayMs) return;
    if (!remember(told.payers, seller, now)) return;
    log.info('deposits.payer_gas_exhausted', { chainId, orderId, seller, payer });
    return;
  }
  const key = `${name} ${seller}`;
  if (told.sellers.has(key) || !remember(told.sellers, key, { name, seller, gas })) return;
  log.warn('deposits.gas_exhausted', { chainId, orderId, move, seller, budget: name });
}

function remember<Value>(memory: Map<string, Value>, key: string, value: Value): boolean {
  if (!memory.has(key) && memory.size >= maxRemembered) return false;
  memory.set(key, value);
  return true;
}

/** One look at the budgets that were told to be used up: tells of those that have room again, a quarter of them at least. */
export async function lookAtBudgets(
  { clock, log, db, toldBudgets }: Required<Telling> & { readonly db: Queryable },
  budgets: DepositBudgets,
): Promise<void> {
  const { sellers, payers } = toldBudgets;
  const since = aDayAgo(clock).getTime();
  for (const [seller, toldAtMs] of payers) if (toldAtMs <= since) payers.delete(seller);
  for (const [key, { name, seller, gas }] of sellers) {
    const budget = BigInt(budgets[name]);
    const { bySeller } = await spentGas(db, { clock, name, seller, payer: '' });
    // Not at the edge: each move that falls out of the day would let another one in, and the log would fill.
    if (bySeller > (budget * 3n) / 4n || bySeller + gas > budget) continue;
    sellers.delete(key);
    log.info('deposits.gas_available', { seller, budget: name });
  }
}

/** A budget of which nearly nothing is left. */
export interface UsedUpBudget {
  readonly seller: string;
  readonly name: BudgetName;
  /** In units of gas, of the last 24 hours. */
  readonly spent: bigint;
  readonly budget: bigint;
}

/** Budgets of which less is left than another collection takes, those with most spent first; `limit` of each kind at most. */
export async function findUsedUpBudgets(
  queryable: Queryable,
  {
    clock,
    budgets,
    limit,
  }: { readonly clock: Clock; readonly budgets: DepositBudgets; readonly limit: number },
): Promise<readonly UsedUpBudget[]> {
  const found: UsedUpBudget[] = [];
  for (const name of ['collections', 'returns'] as const) {
    const budget = BigInt(budgets[name]);
    const least = budget > collectionGas ? budget - collectionGas : 0n;
    const rows = await queryable.query(sellersBySpentGas, {
      moves: movesOf[name],
      since: aDayAgo(clock),
      moreThan: least,
      limit,
    });
    found.push(...rows.map(({ seller, gas }) => ({ seller, name, spent: gas, budget })));
  }
  return found;
}
