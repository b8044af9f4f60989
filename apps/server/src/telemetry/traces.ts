/**
 * Values of attributes are few: patterns of routes, names of statements, chains and nodes, codes. Never an id, an address or
 * a text from a request.
 */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** What a span tells of work that has ended. */
export interface EndedWork {
  readonly name: string;
  readonly ms: number;
  readonly isFailed?: boolean;
  readonly attributes?: SpanAttributes;
}

/** The span of a request that is being answered. */
export interface RequestTrace {
  readonly traceId: string;
  /** Runs what belongs to the request. Its statements and calls come into its trace. */
  readonly enter: (work: () => void) => void;
  readonly end: (ended: Omit<EndedWork, 'ms'>) => void;
}

/** A message to somebody else about an object, in the object's trace. */
export interface MessageTrace {
  /** The header by which the receiver joins the trace (W3C Trace Context). */
  readonly traceparent: string;
  readonly end: (ended: Omit<EndedWork, 'ms'>) => void;
}

/**
 * What a process sends to a collector of OpenTelemetry. A request has a trace of its own, or joins that of its caller. An
 * object that lives longer, such as a session, has one whose id follows from its own, so that every process finds it.
 */
export interface Traces {
  /** @param traceparent The caller's header, of any content. */
  readonly request: (traceparent: string | undefined) => RequestTrace;
  /** Runs background work in a trace of its own. */
  readonly work: <T>(name: string, attributes: SpanAttributes, work: () => Promise<T>) => Promise<T>;
  /** Adds what has just ended to the trace of the request or the work that it belongs to; to none without one. */
  readonly record: (ended: EndedWork) => void;
  /** Adds a time to the trace of an object, with a link to the work that this is a part of. */
  readonly period: (
    objectId: string,
    period: { readonly name: string; readonly start: Date; readonly end: Date; readonly isFirst?: boolean },
  ) => void;
  readonly message: (objectId: string) => MessageTrace;
  /** Sends what is left, for at most a second. */
  readonly close: () => Promise<void>;
}

/** Where traces go. */
export interface TracingSettings {
  /** OTLP over HTTP, with its path: `http://127.0.0.1:4318/v1/traces`. */
  readonly url: string;
  /** The share of traces that are sent, from 0 to 1. It is the same traces in every process. */
  readonly share: number;
}
