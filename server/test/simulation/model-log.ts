import { RpcError, RpcUnavailable } from '#chains/rpc/rpc.ts';
import type { Log } from '#telemetry/log.ts';
import type { Scheduler } from './scheduler.ts';

/**
 * The log of all processes. An error in it that is neither an outage nor a breaker is a bug of its own, even where
 * everything heals: an assertion has failed. After a restore, payments of orders that are lost are told so.
 */
export function modelLog(scheduler: Scheduler, wasRestored: boolean, violate: (text: string) => void): Log {
  const say = (event: string, fields: object) =>
    scheduler.tell(
      `log ${event} ${JSON.stringify(fields, (_name, value) => (typeof value === 'bigint' ? `${value}` : value))}`,
    );
  return {
    info: (event, fields = {}) => say(event, fields),
    warn: (event, fields = {}) => say(event, fields),
    error: (event, error, fields = {}) => {
      const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
      say(event, { ...fields, error: text });
      const isTold = wasRestored && event === 'payment.unmatched_final';
      if (!isTold && !isOutage(event, error)) violate(`an error in the log: ${event}: ${text.slice(0, 200)}`);
    },
  };
}

/** Breakers and quarantines are told as errors because people have to look at them. */
const breakers = new Set(['chain.halted', 'rpc.wrong_chain', 'rpc.node_quarantined']);
/** Serialization failure, deadlock, statement cancelled. */
const outageStates = new Set(['40001', '40P01', '57014']);

function isOutage(event: string, error: unknown): boolean {
  if (breakers.has(event)) return true;
  if (error instanceof RpcUnavailable || error instanceof RpcError) return true;
  if (!(error instanceof Error)) return false;
  if ('code' in error && outageStates.has(String(error.code))) return true;
  return error.message === 'Connection terminated unexpectedly';
}
