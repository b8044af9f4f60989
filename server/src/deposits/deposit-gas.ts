import type { Transaction } from '#db/database.ts';
import type { Clock } from '#outside/clock.ts';
import type { StoredSession } from '#sessions/stored-session.ts';
import { lockDepositGas, spentDepositGas } from './deposit.sql.ts';

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

const movesOf = { collections: ['collect', 'add'], returns: ['rescue'] } as const;

/**
 * Whether a move keeps to its seller's budget. Moves of one seller are recorded one after the other from here on, so that
 * together they keep to it, too.
 */
export async function isWithinGas(
  transaction: Transaction,
  { clock, budgets }: { readonly clock: Clock; readonly budgets: DepositBudgets | undefined },
  asked: { readonly seller: string; readonly move: Move; readonly gas: bigint },
): Promise<boolean> {
  const { seller, move, gas } = asked;
  if (budgets === undefined) return true;
  const budget = move === 'rescue' ? 'returns' : 'collections';
  await transaction.query(lockDepositGas, [`deposit gas ${budget} ${seller}`]);
  const [sum] = await transaction.query(spentDepositGas, [seller, movesOf[budget], aDayAgo(clock)]);
  return (sum?.gas ?? 0n) + gas <= BigInt(budgets[budget]);
}
