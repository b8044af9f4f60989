import type { Queryable } from '@florin/pg';
import type { Clock } from '#outside/clock.ts';
import type { Log } from '#telemetry/log.ts';
import {
  aDayAgo,
  type BudgetName,
  budgetOf,
  type DepositBudgets,
  type RequestedMove,
  spentGas,
} from './deposit-gas.ts';

/** What a process has logged about moves that wait. Losing it repeats lines in the log. */
export interface DepositReports {
  /** Exhausted budgets, by name and owner, with the gas of the move that did not fit. */
  readonly budgets: Map<string, { readonly name: BudgetName; readonly owner: string; readonly gas: bigint }>;
  /** Owners of a budget of which a payer has used up a share, and the time of the report in milliseconds. */
  readonly payers: Map<string, number>;
  /** The last reported revert of each move of each deposit, and what else is reported of a deposit once. */
  readonly reverts: Map<string, string>;
}

interface Reporter {
  readonly clock: Clock;
  readonly log: Log;
  readonly reports: DepositReports;
}

export function newReports(): DepositReports {
  return { budgets: new Map(), payers: new Map(), reverts: new Map() };
}

/** The most entries of one kind; what exceeds it is not reported. */
const maxReports = 1_000;
const dayMs = 86_400_000;

function remember<Value>(reports: Map<string, Value>, key: string, value: Value): boolean {
  if (!reports.has(key) && reports.size >= maxReports) return false;
  reports.set(key, value);
  return true;
}

/** Reverts rarely end with a report of their own, so the oldest makes place for the newest. */
function putNewest(reverts: Map<string, string>, key: string, value: string): void {
  const [oldest] = reverts.keys();
  if (reverts.size >= maxReports && oldest !== undefined) reverts.delete(oldest);
  reverts.set(key, value);
}

/** Whether something about a deposit is not logged yet; it counts as logged from then on. */
function isNew(reverts: Map<string, string>, key: string, value = ''): boolean {
  if (reverts.get(key) === value) return false;
  putNewest(reverts, key, value);
  return true;
}

/** Logs that a move would revert: once for each move of a deposit until its revert changes. */
export function reportRevert(
  { log, reports: { reverts } }: Reporter,
  { orderId, chainId, move, token }: { orderId: string; chainId: number; move: string; token: string },
  data: string,
): void {
  if (!isNew(reverts, `${orderId} ${move} ${token}`, data)) return;
  log.info('deposits.would_revert', { chainId, orderId, move, data });
}

/** Logs that an order is not what the configuration and its id say, so that nothing is signed: once for each deposit. */
export function reportMismatch(
  { log, reports: { reverts } }: Pick<Reporter, 'log' | 'reports'>,
  { orderId, chainId }: { readonly orderId: string; readonly chainId: number },
  mismatch: string,
): void {
  if (!isNew(reverts, `${orderId} mismatch`)) return;
  const error = new Error('an order in the database is not what the configuration and its id say');
  log.error('deposits.order_in_doubt', error, { chainId, orderId, mismatch });
}

/** Logs that a deposit's own terms allow an addition, and the present configuration does not: once for each deposit. */
export function reportBound(
  { log, reports: { reverts } }: Pick<Reporter, 'log' | 'reports'>,
  { orderId, chainId }: { readonly orderId: string; readonly chainId: number },
  { lacking, configuredMost }: { readonly lacking: bigint; readonly configuredMost: bigint },
): void {
  if (!isNew(reverts, `${orderId} bound`)) return;
  const amounts = { lacking: lacking.toString(), configuredMost: configuredMost.toString() };
  log.warn('deposits.above_configured_bound', { chainId, orderId, ...amounts });
}

/** Logs that providers differ about what a deposit has, or too few answer: once for each deposit. */
export function reportBalance(
  { log, reports: { reverts } }: Pick<Reporter, 'log' | 'reports'>,
  { orderId, chainId }: { readonly orderId: string; readonly chainId: number },
): void {
  if (isNew(reverts, `${orderId} balance`)) log.info('deposits.balance_not_agreed', { chainId, orderId });
}

/**
 * Logs that a move waits for gas: once for each budget until it has room again, and once a day for all payers of one owner
 * who want more returns than their share.
 */
export function reportWaiting(
  { clock, log, reports }: Reporter,
  verdict: 'owner_used_up' | 'payer_used_up',
  { owner, payer, move, gas }: RequestedMove,
  { chainId, orderId }: { readonly chainId: number; readonly orderId: string },
): void {
  if (verdict === 'payer_used_up') {
    const now = clock.now().getTime();
    if (now - (reports.payers.get(owner) ?? Number.NEGATIVE_INFINITY) < dayMs) return;
    if (!remember(reports.payers, owner, now)) return;
    log.info('deposits.payer_gas_exhausted', { chainId, orderId, seller: owner, payer });
    return;
  }
  const name = budgetOf(move);
  const key = `${name} ${owner}`;
  if (reports.budgets.has(key) || !remember(reports.budgets, key, { name, owner, gas })) return;
  log.warn('deposits.gas_exhausted', { chainId, orderId, move, seller: owner, budget: name });
}

/** Logs which exhausted budgets have room again: for the move that waits, and at least a quarter of the budget. */
export async function checkBudgets(
  { clock, log, db, reports }: Reporter & { readonly db: Queryable },
  budgets: DepositBudgets,
): Promise<void> {
  const since = aDayAgo(clock).getTime();
  for (const [owner, reportedAtMs] of reports.payers) if (reportedAtMs <= since) reports.payers.delete(owner);
  for (const [key, { name, owner, gas }] of reports.budgets) {
    const budget = BigInt(budgets[name]);
    const { byOwner } = await spentGas(db, { clock, name, owner, payer: '' });
    // With less room, each move that leaves the day would let one in, and the log would fill.
    if (byOwner > (budget * 3n) / 4n || byOwner + gas > budget) continue;
    reports.budgets.delete(key);
    log.info('deposits.gas_available', { seller: owner, budget: name });
  }
}
