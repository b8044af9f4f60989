import { RpcError, RpcUnavailable } from '@florin/evm';
import type { Log } from '@florin/server/parts';
import type { Scenario } from './scenario.ts';
import type { Scheduler } from './scheduler.ts';

/**
 * The log of all processes. Errors other than outages and halts are violations, even if the service recovers: an
 * assertion has failed. After a restore, the service logs payments of lost orders as errors. On unproven chains, a
 * node can hide a log for some time. A reorg below finality changes the basis of the books.
 */
export function modelLog(scheduler: Scheduler, scenario: Scenario, violate: (text: string) => void): Log {
  const wasRestored = scenario.restore !== undefined;
  const print = (event: string, fields: object) =>
    scheduler.print(
      `log ${event} ${JSON.stringify(fields, (_name, value) => (typeof value === 'bigint' ? `${value}` : value))}`,
    );
  return {
    info: (event, fields = {}) => print(event, fields),
    warn: (event, fields = {}) => print(event, fields),
    error: (event, error, fields = {}) => {
      const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
      print(event, { ...fields, error: text });
      const isLostOrder = wasRestored && event === 'payment.unmatched_final';
      const isHiddenLog = !scenario.isProven && hiddenLogEvents.has(event);
      const isOverCaps = scenario.policy !== undefined && event === 'settlement.over_vault_caps';
      const isRevertedFinal = scenario.deepReorgMs !== undefined && event === 'reconcile.drift';
      if (!isLostOrder && !isHiddenLog && !isRevertedFinal && !isOverCaps && !isOutage(event, error))
        violate(`an error in the log: ${event}: ${text.slice(0, 200)}`);
    },
  };
}

/** Log names that report missing logs. */
const hiddenLogEvents = new Set(['settlement.unreported', 'reconcile.drift']);
/** Halts and quarantines are logged as errors because an operator has to act. */
const operatorEvents = new Set(['chain.halted', 'chain.resynced', 'rpc.wrong_chain', 'rpc.node_quarantined']);
/** Serialization failure, deadlock, statement cancelled. */
const outageStates = new Set(['40001', '40P01', '57014']);

function isOutage(event: string, error: unknown): boolean {
  if (operatorEvents.has(event)) return true;
  if (error instanceof RpcUnavailable || error instanceof RpcError) return true;
  if (!(error instanceof Error)) return false;
  if ('code' in error && outageStates.has(String(error.code))) return true;
  return error.message === 'Connection terminated unexpectedly';
}
