import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Log } from './log.ts';

/** One answered HTTP request. */
export interface AnsweredRequest {
  readonly method: string;
  /** The route's pattern, such as `/payment/v1/product/list/:page/:size`; empty for unknown paths. */
  readonly route: string;
  readonly status: number;
  /** The envelope's code; 0 for success and for answers without an envelope. */
  readonly code: number;
  readonly seconds: number;
}

/** A gauge that is read from outside the process, such as the database, when Prometheus asks. */
export interface ReadGauge {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
}

/** The value of a gauge for one set of labels. */
export interface Reading {
  readonly gauge: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/**
 * What a process counts and measures, for Prometheus. Names and labels are stable. Each label has few values: patterns of
 * routes, names of chains, nodes and events in the log; never an id, an address or a text from a request.
 */
export interface Metrics {
  readonly request: (answered: AnsweredRequest) => void;
  /** One exchange with a node of a chain: a request and its answer, or none. */
  readonly rpc: (
    chain: string,
    exchange: { readonly node: string; readonly isAnswered: boolean; readonly ms: number },
  ) => void;
  /** One attempt to deliver a webhook. */
  readonly delivery: (attempt: { readonly isAccepted: boolean; readonly ms: number }) => void;
  /** A database transaction, from its connection to its commit. */
  readonly committed: (ms: number) => void;
  /** A list, a search or sums, by the server that answered. Only where there is a replica. */
  readonly listRead: (server: 'primary' | 'replica') => void;
  /** A session that has just moved to a status. A transaction that is repeated counts again. */
  readonly sessionMoved: (status: string) => void;
  /** From the time of the payment's block to its first reading. */
  readonly detected: (chain: string, seconds: number) => void;
  /** From the payment's final block to the block that settled it. */
  readonly settled: (seconds: number) => void;
  /** One signature that a key of the service was asked for. */
  readonly signed: (key: string, isSigned: boolean) => void;
  /** Counts what a log gets, and passes it on. */
  readonly countLog: (log: Log) => Log;
  /** Reads gauges for each page that Prometheus asks for. */
  readonly addReader: (gauges: readonly ReadGauge[], read: () => Promise<readonly Reading[]>) => void;
  /** The page in Prometheus' text format. */
  readonly render: () => Promise<{ readonly contentType: string; readonly text: string }>;
}

/** Upper bounds in seconds. */
const buckets = {
  fast: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
  slow: [0.5, 1, 2, 5, 10, 30, 60, 300, 900, 3_600, 21_600],
} as const;

type Instruments = ReturnType<typeof openInstruments>;

/** Everything that the process itself counts and measures. */
function openInstruments(registry: Registry) {
  const registers = [registry];
  const counter = <Label extends string>(name: string, help: string, labelNames: Label[]) =>
    new Counter({ name, help, labelNames, registers });
  const histogram = <Label extends string>(
    name: string,
    help: string,
    labelNames: Label[],
    kind: keyof typeof buckets,
  ) => new Histogram({ name, help, labelNames, buckets: [...buckets[kind]], registers });
  return {
    requests: counter('florin_http_requests_total', 'Answered requests.', [
      'method',
      'route',
      'status',
      'code',
    ]),
    requestSeconds: histogram('florin_http_request_seconds', 'Time to answer a request.', ['route'], 'fast'),
    exchanges: counter('florin_rpc_requests_total', 'Requests to nodes.', ['chain', 'node', 'outcome']),
    rpcSeconds: histogram('florin_rpc_request_seconds', 'Time until a node answered.', ['chain'], 'fast'),
    attempts: counter('florin_webhook_attempts_total', 'Attempts to deliver a webhook.', ['outcome']),
    attemptSeconds: histogram(
      'florin_webhook_attempt_seconds',
      'Time until a receiver answered.',
      [],
      'fast',
    ),
    commits: histogram(
      'florin_database_transaction_seconds',
      'Time of a transaction, its commit included.',
      [],
      'fast',
    ),
    lists: counter('florin_list_reads_total', 'Lists, searches and sums, by the server that answered.', [
      'server',
    ]),
    moves: counter('florin_session_moves_total', 'Sessions that have come to a status.', ['status']),
    detections: histogram(
      'florin_payment_detection_seconds',
      'From the block of a payment to its first reading.',
      ['chain'],
      'slow',
    ),
    settlements: histogram(
      'florin_settlement_seconds',
      'From the final payment to its settlement.',
      [],
      'slow',
    ),
    signatures: counter('florin_signatures_total', 'Signatures that the service asked of its keys.', [
      'key',
      'outcome',
    ]),
    lines: counter('florin_log_events_total', 'Warnings and errors in the log, by the name of the event.', [
      'level',
      'event',
    ]),
  };
}

/** Opens the metrics of this process. */
export function openMetrics(build: { readonly version: string; readonly roles: readonly string[] }): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: 'florin_build_info',
    help: 'The version and the roles of the process; always 1.',
    labelNames: ['version', 'roles'],
    registers: [registry],
  }).set({ version: build.version, roles: build.roles.join(' ') }, 1);
  const readers: (() => Promise<void>)[] = [];
  return {
    ...recorders(openInstruments(registry)),
    addReader: (gauges, read) => readers.push(readerOf(registry, gauges, read)),
    async render() {
      await Promise.all(readers.map((read) => read()));
      return { contentType: registry.contentType, text: await registry.metrics() };
    },
  };
}

function recorders(into: Instruments): Omit<Metrics, 'addReader' | 'render'> {
  return {
    request({ method, route, status, code, seconds }) {
      into.requests.inc({ method, route, status: String(status), code: String(code) });
      into.requestSeconds.observe({ route }, seconds);
    },
    rpc(chain, { node, isAnswered, ms }) {
      into.exchanges.inc({ chain, node, outcome: isAnswered ? 'answered' : 'failed' });
      if (isAnswered) into.rpcSeconds.observe({ chain }, ms / 1_000);
    },
    delivery({ isAccepted, ms }) {
      into.attempts.inc({ outcome: isAccepted ? 'accepted' : 'failed' });
      into.attemptSeconds.observe(ms / 1_000);
    },
    committed: (ms) => into.commits.observe(ms / 1_000),
    listRead: (server) => into.lists.inc({ server }),
    sessionMoved: (status) => into.moves.inc({ status }),
    detected: (chain, seconds) => into.detections.observe({ chain }, seconds),
    settled: (seconds) => into.settlements.observe(seconds),
    signed: (key, isSigned) => into.signatures.inc({ key, outcome: isSigned ? 'signed' : 'failed' }),
    countLog: (log) => ({
      info: log.info,
      warn(event, fields) {
        into.lines.inc({ level: 'warn', event });
        log.warn(event, fields);
      },
      error(event, error, fields) {
        into.lines.inc({ level: 'error', event });
        log.error(event, error, fields);
      },
    }),
  };
}

function readerOf(registry: Registry, gauges: readonly ReadGauge[], read: () => Promise<readonly Reading[]>) {
  const byName = new Map(
    gauges.map(({ name, help, labels }) => [
      name,
      new Gauge({ name, help, labelNames: [...labels], registers: [registry] }),
    ]),
  );
  return async () => {
    const readings = await read();
    // What is gone, such as a settlement's reason, must not stay.
    for (const gauge of byName.values()) gauge.reset();
    for (const { gauge, labels, value } of readings) byName.get(gauge)?.set({ ...labels }, value);
  };
}
