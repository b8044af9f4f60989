import { hostname } from 'node:os';
import type { NodeExchange } from '@florin/evm';
import type { FollowedAttempt } from '@florin/outbox';
import type { ChainHandler } from '#contracts/event.ts';
import { version } from '#outside/version.ts';
import type { StoredSession } from '#sessions/stored-session.ts';
import type { Traces } from '#telemetry/traces.ts';
import type { ServiceOptions } from './options.ts';

/** The options with this process's traces in them; unchanged where none are configured, and then nothing of them is loaded. */
export async function withTraces(options: ServiceOptions): Promise<ServiceOptions> {
  const { tracing, clock, log, roles, onMove } = options;
  if (tracing === undefined) return options;
  const { openTraces } = await import('#telemetry/otlp-traces.ts');
  const instance = `${hostname()}/${process.pid}`;
  const traces = openTraces({ ...tracing, clock, log, process: { version, roles: [...roles], instance } });
  return {
    ...options,
    traces,
    onMove(moved) {
      onMove?.(moved);
      traceMove(traces, moved, clock.now());
    },
  };
}

/**
 * A session's trace: from its creation to its payment, from there to its settlement, and its other moves. A transaction that is
 * repeated tells its moves again.
 */
function traceMove(traces: Traces, moved: StoredSession, now: Date): void {
  const { sessionId, status, createdAt } = moved;
  const { paymentSucceededAt: paidAt, settlementSucceededAt: settledAt } = moved;
  const isDetected = status === 'initialized' && moved.initiateTx !== '';
  if (status === 'paid' && paidAt !== undefined)
    traces.period(sessionId, { name: 'payment', isFirst: true, ...inOrder(createdAt, paidAt) });
  else if (status === 'completed' && paidAt !== undefined && settledAt !== undefined)
    traces.period(sessionId, { name: 'settlement', ...inOrder(paidAt, settledAt) });
  else {
    const name = isDetected ? 'payment detected' : `session ${status}`;
    traces.period(sessionId, { name, start: now, end: now });
  }
}

/** Chains have clocks of their own. */
function inOrder(start: Date, end: Date): { start: Date; end: Date } {
  return { start, end: end < start ? start : end };
}

/** The handler, whose blocks with events of ours are traces. */
export function tracedHandler(handler: ChainHandler, traces: Traces): ChainHandler {
  return {
    ...handler,
    onBlock(transaction, chain, block, events) {
      const handle = () => handler.onBlock(transaction, chain, block, events);
      return events.length === 0 ? handle() : traces.work('block', { 'florin.chain': chain.name }, handle);
    },
  };
}

/** Tells the trace of a request or of work about an exchange with a node. */
export function recordExchange(traces: Traces, chain: string, exchange: NodeExchange): void {
  const { method, node, calls, ms, isAnswered } = exchange;
  traces.record({
    ...{ name: method, ms, isFailed: !isAnswered },
    attributes: {
      'rpc.system': 'jsonrpc',
      'server.address': node,
      'florin.chain': chain,
      'florin.calls': calls,
    },
  });
}

/** Tells the trace of a request or of work about a statement. */
export function recordStatement(
  traces: Traces,
  { name, ms, isFailed }: { readonly name: string; readonly ms: number; readonly isFailed: boolean },
): void {
  traces.record({ name, ms, isFailed, attributes: { 'db.system.name': 'postgresql' } });
}

/** An attempt to deliver a webhook, in the trace of what its event is about. The receiver can join it. */
export function followAttempt(traces: Traces, objectId: string): FollowedAttempt {
  const { traceparent, end } = traces.message(objectId);
  return {
    headers: { traceparent },
    end: (isAccepted) => end({ name: 'webhook attempt', isFailed: !isAccepted }),
  };
}
