import type { Queryable, Transaction } from '@florin/pg';
import type { Clock } from '#outside/clock.ts';
import { doubtedDeposits, exceptionsInDoubt, keepDeposit, loseDeposit } from './exception.sql.ts';

/** An exception about money at a deposit address that a reorg below finality may have taken back. */
export interface DoubtedDeposit {
  readonly exceptionId: string;
  readonly orderId: string;
  readonly sessionId: string;
  readonly tokenId: string;
}

/** Some of a chain's doubted deposits, the longest doubted first, whose addresses got no transfer above the final block. */
export async function findDoubtedDeposits(
  queryable: Queryable,
  chain: { readonly chainId: number; readonly limit: number },
): Promise<DoubtedDeposit[]> {
  const rows = await queryable.query(doubtedDeposits, chain);
  return rows.map((row) => ({
    exceptionId: row.exception_id,
    orderId: row.order_id,
    sessionId: row.session_id,
    tokenId: row.token_id,
  }));
}

/**
 * Ends the doubt about an exception by what its address holds, in units of the token: nothing ends the exception as well. It is
 * opened again when the money comes back (`raise`). The caller holds the session's row lock.
 */
export async function endDoubt(
  transaction: Transaction,
  { clock }: { readonly clock: Clock },
  { exceptionId, amount }: { readonly exceptionId: string; readonly amount: bigint },
): Promise<void> {
  const updatedAt = clock.now();
  if (amount === 0n) await transaction.query(loseDeposit, { exceptionId, updatedAt });
  else await transaction.query(keepDeposit, { exceptionId, amountInToken: amount, updatedAt });
}

/** The exceptions of several orders whose money may be gone: by a reorg, or on a halted chain. */
export async function findExceptionsInDoubt(
  queryable: Queryable,
  orderIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = orderIds.length === 0 ? [] : await queryable.query(exceptionsInDoubt, { orderIds });
  return new Set(rows.map((row) => row.exception_id));
}
