import type { Queryable, Transaction } from '@florin/pg';
import { type Clock, daysBefore } from '#outside/clock.ts';
import type { StoredSession } from '#sessions/stored-session.ts';
import { lockDepositGas, sellersBySpentGas, spentDepositGas } from './deposit.sql.ts';

/** Gas for moves of deposits in 24 hours, of one payment link, or of a merchant's sessions without a link. */
export interface DepositBudgets {
  /** A collection pays an order. An addition to a short deposit is part of it. */
  readonly collections: number;
  /** Anyone can send a wrong amount or token again and again, and the service pays for each return. */
  readonly returns: number;
}

/** Gas and additions count for this long. */
export function aDayAgo(clock: Clock): Date {
  return daysBefore(clock.now(), 1);
}

/** The owner of the budget that a session's moves count in: its link, or its merchant when it has no link. */
export function budgetOwnerOf({ businessId, merchantId }: StoredSession): string {
  return businessId === '' ? merchantId : businessId;
}

type Move = 'collect' | 'rescue' | 'add';

/** The gas of a collection with a reserve of a fifth. An addition sets it aside, because a collection follows. */
const collectionGas = 200_000n;

/** The gas of a move that counts in its budget. */
export function gasOf(move: Move, gasLimit: bigint): bigint {
  return move === 'add' ? gasLimit + collectionGas : gasLimit;
}

/** The budgets of an owner, and the moves that count in them. */
const movesOf = { collections: ['collect', 'add'], returns: ['rescue'] } as const;
export type BudgetName = keyof typeof movesOf;

export function budgetOf(move: Move): BudgetName {
  return move === 'rescue' ? 'returns' : 'collections';
}

/** A move that is about to be recorded. */
export interface RequestedMove {
  readonly owner: string;
  /** The recipient of a return. */
  readonly payer: string;
  readonly move: Move;
  readonly gas: bigint;
}

/** Gas of one budget that was spent in 24 hours. */
interface SpentGas {
  readonly byOwner: bigint;
  readonly byPayer: bigint;
}

export type GasVerdict = 'within' | 'owner_used_up' | 'payer_used_up';

/** One payer's repeated returns have at most this part of a day's budget. */
const payerShare = 20n;
/** Repeated returns use only this part of the budget. Beyond it, each payer gets one return. */
const repeatedPart = 2n;

/**
 * Whether a move fits into its budget of a day. A payer's first return may use all of it. Further returns have a share of
 * its first half: a payer who sends wrongly again and again waits, and others do not (docs/decisions/0046).
 */
export function budgetVerdict(
  budget: bigint,
  spent: SpentGas,
  { move, gas }: Pick<RequestedMove, 'move' | 'gas'>,
): GasVerdict {
  if (spent.byOwner + gas > budget) return 'owner_used_up';
  if (move !== 'rescue' || spent.byPayer === 0n) return 'within';
  const isOverShare = spent.byPayer + gas > budget / payerShare;
  return isOverShare || spent.byOwner + gas > budget / repeatedPart ? 'payer_used_up' : 'within';
}

/** The verdict by what is stored. Until the transaction ends, other moves of the same budget wait. */
export async function gasVerdict(
  transaction: Transaction,
  { clock, budgets }: { readonly clock: Clock; readonly budgets: DepositBudgets | undefined },
  requested: RequestedMove,
): Promise<GasVerdict> {
  if (budgets === undefined) return 'within';
  const { owner, payer, move } = requested;
  const name = budgetOf(move);
  await transaction.query(lockDepositGas, { of: `${name} ${owner}` });
  const spent = await spentGas(transaction, { clock, name, owner, payer });
  return budgetVerdict(BigInt(budgets[name]), spent, requested);
}

export async function spentGas(
  queryable: Queryable,
  of: { readonly clock: Clock; readonly name: BudgetName; readonly owner: string; readonly payer: string },
): Promise<SpentGas> {
  const { clock, name, owner, payer } = of;
  const [row] = await queryable.query(spentDepositGas, {
    seller: owner,
    moves: movesOf[name],
    since: aDayAgo(clock),
    payer: payer.toLowerCase(),
  });
  return { byOwner: row?.gas ?? 0n, byPayer: row?.payer_gas ?? 0n };
}

/** A budget with too little left for a collection. */
export interface ExhaustedBudget {
  readonly owner: string;
  readonly name: BudgetName;
  readonly spent: bigint;
  readonly budget: bigint;
}

/** The exhausted budgets, for the operator: at most `limit` of each name. */
export async function findExhaustedBudgets(
  queryable: Queryable,
  of: { readonly clock: Clock; readonly budgets: DepositBudgets; readonly limit: number },
): Promise<readonly ExhaustedBudget[]> {
  const { clock, budgets, limit } = of;
  const found: ExhaustedBudget[] = [];
  for (const name of ['collections', 'returns'] as const) {
    const budget = BigInt(budgets[name]);
    const moreThan = budget > collectionGas ? budget - collectionGas : 0n;
    const asked = { moves: movesOf[name], since: aDayAgo(clock), moreThan, limit };
    const rows = await queryable.query(sellersBySpentGas, asked);
    found.push(...rows.map(({ seller, gas }) => ({ owner: seller, name, spent: gas, budget })));
  }
  return found;
}
