import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import { ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, TraceFlags, trace } from '@opentelemetry/api';
import { type ExportResult, ExportResultCode, parseTraceParent } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  type IdGenerator,
  RandomIdGenerator,
  type ReadableSpan,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Clock } from '#outside/clock.ts';
import type { Log } from './log.ts';
import type { EndedWork, SpanAttributes, Traces, TracingSettings } from './traces.ts';

const exportIntervalMs = 1_000;
/** For one request to the collector. */
const exportLimitMs = 5_000;
/** How long a process that stops waits for the collector. */
const closeLimitMs = 1_000;

interface TracesOptions extends TracingSettings {
  readonly clock: Clock;
  readonly log: Log;
  /** What each trace says of this process. */
  readonly process: {
    readonly version: string;
    readonly roles: readonly string[];
    readonly instance: string;
  };
}

/**
 * Opens the traces of this process with the packages of OpenTelemetry. This module is loaded only where traces are configured,
 * because the packages cost memory and time at the start.
 */
export function openTraces({ url, share, clock, log, process }: TracesOptions): Traces {
  const ids = chosenIds();
  const provider = new TracerProvider({
    idGenerator: ids,
    // By the id alone, so that all processes send the same traces. Who calls with a `traceparent` chooses the id.
    sampler: new TraceIdRatioBasedSampler(share),
    resource: resourceFromAttributes({
      'service.name': 'florin',
      'service.version': process.version,
      'service.instance.id': process.instance,
      'florin.roles': process.roles.join(' '),
    }),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: reported(new OTLPTraceExporter({ url, timeoutMillis: exportLimitMs }), log),
        scheduledDelayMillis: exportIntervalMs,
      }),
    ],
  });
  const tracer = provider.getTracer('florin', process.version);
  const current = new AsyncLocalStorage<Span>();
  const open = (name: string, kind: SpanKind, parent = ROOT_CONTEXT) =>
    tracer.startSpan(name, { kind }, parent);
  return {
    request(traceparent) {
      const caller = traceparent === undefined ? null : parseTraceParent(traceparent);
      const parent =
        caller === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, { ...caller, isRemote: true });
      const span = open('request', SpanKind.SERVER, parent);
      return {
        traceId: span.spanContext().traceId,
        enter: (work) => current.run(span, work),
        end: (ended) => finish(span, ended),
      };
    },
    async work(name, attributes, work) {
      const span = open(name, SpanKind.INTERNAL);
      let isFailed = true;
      try {
        const result = await current.run(span, work);
        isFailed = false;
        return result;
      } finally {
        finish(span, { name, isFailed, attributes });
      }
    },
    record({ ms, ...ended }) {
      const parent = current.getStore();
      // A loop that began within a request outlives it.
      if (parent?.isRecording() !== true) return;
      const context = trace.setSpan(ROOT_CONTEXT, parent);
      finish(
        tracer.startSpan(
          ended.name,
          { kind: SpanKind.CLIENT, startTime: clock.now().getTime() - ms },
          context,
        ),
        ended,
      );
    },
    period(objectId, { name, start, end, isFirst = false }) {
      const within = current.getStore();
      const links = within === undefined ? [] : [{ context: within.spanContext() }];
      const parent = objectContext(objectId);
      const begin = () =>
        tracer.startSpan(
          name,
          { links, startTime: start },
          isFirst ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent),
        );
      (isFirst ? ids.as(parent, begin) : begin()).end(end);
    },
    message(objectId) {
      const span = open(
        'message',
        SpanKind.PRODUCER,
        trace.setSpanContext(ROOT_CONTEXT, objectContext(objectId)),
      );
      const { traceId, spanId, traceFlags } = span.spanContext();
      return {
        traceparent: `00-${traceId}-${spanId}-0${traceFlags & TraceFlags.SAMPLED}`,
        end: (ended) => finish(span, ended),
      };
    },
    async close() {
      await Promise.race([provider.shutdown().catch(() => undefined), clock.sleep(closeLimitMs)]);
    },
  };
}

function finish(span: Span, { name, isFailed = false, attributes = {} }: Omit<EndedWork, 'ms'>): void {
  span.updateName(name);
  span.setAttributes(attributes satisfies SpanAttributes);
  if (isFailed) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}

/** The first span of an object's trace. Its ids follow from the object's, so that each process knows them. */
function objectContext(objectId: string) {
  const hash = createHash('sha256').update(objectId).digest('hex');
  return {
    traceId: hash.slice(0, 32),
    spanId: hash.slice(32, 48),
    traceFlags: TraceFlags.SAMPLED,
    isRemote: true,
  };
}

/** Random ids, and chosen ones for the span that `begin` starts. */
function chosenIds(): IdGenerator & {
  as(ids: { readonly traceId: string; readonly spanId: string }, begin: () => Span): Span;
} {
  const random = new RandomIdGenerator();
  let chosen: { readonly traceId: string; readonly spanId: string } | undefined;
  return {
    generateTraceId: () => chosen?.traceId ?? random.generateTraceId(),
    generateSpanId: () => chosen?.spanId ?? random.generateSpanId(),
    as(given, begin) {
      chosen = given;
      try {
        return begin();
      } finally {
        chosen = undefined;
      }
    },
  };
}

/** The exporter, which says once in the log that the collector takes nothing, and once that it does again. */
function reported(exporter: SpanExporter, log: Log): SpanExporter {
  let isFailing = false;
  const look = ({ code }: ExportResult, spans: number) => {
    if ((code === ExportResultCode.FAILED) === isFailing) return;
    isFailing = !isFailing;
    if (isFailing) log.warn('tracing.not_sent', { spans });
    else log.info('tracing.sent_again');
  };
  return {
    export(spans: ReadableSpan[], done) {
      exporter.export(spans, (result) => {
        look(result, spans.length);
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
  };
}
