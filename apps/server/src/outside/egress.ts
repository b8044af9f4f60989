import { type LookupAddress, type LookupOptions, lookup as systemLookup } from 'node:dns';
import { Agent, buildConnector, type Dispatcher, errors } from 'undici';
import {
  type AddressPolicy,
  isHostAllowed,
  isPlainHttpAllowed,
  isResolvedAddressAllowed,
} from './address.ts';

/** Why an exchange failed. A refused target's reason is only that it was refused. */
export type EgressReason =
  | 'address not allowed'
  | 'name not resolved'
  | 'connection failed'
  | 'connection reset'
  | 'tls failed'
  | 'timed out'
  | 'too large'
  | 'malformed response';

/** No usable answer arrived; the receiver may have got the request. */
export class EgressFailure extends Error {
  readonly reason: EgressReason;

  constructor(reason: EgressReason, options?: ErrorOptions) {
    super(reason, options);
    this.name = 'EgressFailure';
    this.reason = reason;
  }
}

export interface EgressResponse {
  /** Any final status; redirects are answers like others and are never followed. */
  readonly status: number;
  readonly headers: { readonly retryAfter: string | undefined };
  /** The first 64 KiB as received, never decompressed, read as UTF-8. */
  readonly bodyText: string;
  readonly latencyMs: number;
}

/** A file as received, never decompressed. */
export interface EgressFile {
  /** Any final status; redirects are answers like others and are never followed. */
  readonly status: number;
  /** The sender's content coding in lower case; empty when there is none. */
  readonly contentEncoding: string;
  readonly bytes: Uint8Array;
}

/** HTTPS to addresses that strangers choose; plain HTTP where the policy allows it. */
export interface Egress {
  /**
   * Throws `EgressFailure`. `timeoutMs` covers everything from name resolution to the end of the body; at most 15 s.
   */
  post(
    url: string,
    options: {
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string;
      readonly timeoutMs?: number;
    },
  ): Promise<EgressResponse>;
  /** Ends idle connections and exchanges in progress. */
  close(): Promise<void>;
}

/** The same for files. */
export interface Downloader extends Pick<Egress, 'close'> {
  /**
   * Downloads a complete file. Throws `EgressFailure`, with `too large` as soon as the header or the body exceeds
   * `maxBytes`. `timeoutMs` covers everything from name resolution to the end of the body; at most 15 s.
   */
  download(
    url: string,
    options: {
      readonly headers: Readonly<Record<string, string>>;
      readonly maxBytes: number;
      readonly timeoutMs: number;
    },
  ): Promise<EgressFile>;
}

/** The signature of `dns.lookup` with `all`; tests pass resolvers that lie. */
export type Lookup = (
  hostname: string,
  options: LookupOptions & { all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

export interface EgressOptions {
  readonly addresses: AddressPolicy;
  readonly lookup?: Lookup;
  /** Certificate authorities in PEM that replace the system's. Without it NODE_EXTRA_CA_CERTS counts too. */
  readonly ca?: string | undefined;
  /** Origins that one agent serves before a new one takes over; 4,096 by default. */
  readonly maxOrigins?: number;
}

const totalTimeoutMs = 15_000;
const connectTimeoutMs = 10_000;
const maxResponseBytes = 64 * 1024;
const maxHeaderBytes = 16 * 1024;
const connectionsPerOrigin = 256;
const maxOrigins = 4096;

/**
 * Opens connections only to allowed addresses. Both checks are needed. A name's addresses are checked inside the
 * connection's own lookup, so that a resolver cannot answer differently a second time. Literal addresses never trigger
 * a lookup, so they are checked before connecting.
 */
export function createEgress(options: EgressOptions): Egress & Downloader {
  const agents = agentsInTurn(options);
  return {
    post: async (url, { body, headers, timeoutMs = totalTimeoutMs }) => {
      const request = { method: 'POST', headers, body } as const;
      const answer = await exchange(agents, url, request, {
        timeoutMs,
        maxBytes: maxResponseBytes,
        cut: 'kept',
      });
      return {
        status: answer.status,
        headers: { retryAfter: answer.headers.retryAfter },
        bodyText: answer.bytes.toString('utf8'),
        latencyMs: answer.latencyMs,
      };
    },
    download: async (url, { headers, maxBytes, timeoutMs }) => {
      const request = { method: 'GET', headers, body: null } as const;
      const answer = await exchange(agents, url, request, { timeoutMs, maxBytes, cut: 'refused' });
      return { status: answer.status, contentEncoding: answer.headers.contentEncoding, bytes: answer.bytes };
    },
    close: () => agents.destroy(),
  };
}

interface Agents {
  readonly addresses: AddressPolicy;
  agentFor(origin: string): Agent;
  destroy(): Promise<void>;
}

/**
 * An agent keeps memory for every origin whose exchange it aborted, so 4,096 receivers that never answer fill it. After
 * that many origins a new agent takes over; the old one finishes its exchanges and is closed. undici's `maxOrigins`
 * would refuse all further origins instead.
 */
function agentsInTurn(options: EgressOptions): Agents {
  const most = options.maxOrigins ?? maxOrigins;
  const connect = checkedConnector(options);
  const makeAgent = () =>
    new Agent({
      connect,
      connections: connectionsPerOrigin,
      pipelining: 1,
      allowH2: false,
      maxHeaderSize: maxHeaderBytes,
      // Our own timer covers the whole exchange.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  let current = makeAgent();
  const live = new Set([current]);
  const origins = new Set<string>();
  return {
    addresses: options.addresses,
    agentFor(origin) {
      if (!origins.has(origin) && origins.size >= most) {
        const old = current;
        void old.close().finally(() => live.delete(old));
        current = makeAgent();
        live.add(current);
        origins.clear();
      }
      origins.add(origin);
      return current;
    },
    async destroy() {
      await Promise.all([...live].map((agent) => agent.destroy()));
    },
  };
}

function checkedConnector(options: EgressOptions): buildConnector.connector {
  const policy = options.addresses;
  const connect = buildConnector({
    allowH2: false,
    timeout: connectTimeoutMs,
    // Explicit, so that NODE_TLS_REJECT_UNAUTHORIZED cannot turn verification off.
    rejectUnauthorized: true,
    lookup: checkedLookup(options.lookup ?? systemLookup, policy),
    ca: options.ca,
  });
  return (target, callback) => {
    if (!isTargetAllowed(target, policy)) {
      callback(new EgressFailure('address not allowed'), null);
      return;
    }
    connect(target, callback);
  };
}

function isTargetAllowed(target: Pick<URL, 'protocol' | 'hostname'>, policy: AddressPolicy): boolean {
  const isSpoken = target.protocol === 'https:' || isPlainHttpAllowed(target, policy);
  return isSpoken && isHostAllowed(target.hostname, policy);
}

type NodeLookup = (
  hostname: string,
  options: LookupOptions,
  callback: (error: NodeJS.ErrnoException | null, address: string | LookupAddress[], family?: number) => void,
) => void;

/** One private address refuses the whole name: an honest receiver does not mix private and public addresses. */
function checkedLookup(lookup: Lookup, policy: AddressPolicy): NodeLookup {
  return (hostname, lookupOptions, callback) => {
    lookup(hostname, { ...lookupOptions, all: true }, (error, addresses) => {
      if (error !== null) {
        callback(error, []);
        return;
      }
      const [first] = addresses;
      if (
        first === undefined ||
        addresses.some(({ address }) => !isResolvedAddressAllowed(hostname, address, policy))
      ) {
        callback(new EgressFailure('address not allowed'), []);
      } else if (lookupOptions.all === true) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}

/** How much of an answer is read, and whether a truncated answer counts. */
interface Reading {
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly cut: 'kept' | 'refused';
}

interface Answer {
  readonly status: number;
  readonly headers: { readonly retryAfter: string | undefined; readonly contentEncoding: string };
  readonly bytes: Buffer;
  readonly latencyMs: number;
}

function exchange(
  agents: Agents,
  url: string,
  request: Pick<Dispatcher.DispatchOptions, 'method' | 'body'> & {
    headers: Readonly<Record<string, string>>;
  },
  reading: Reading,
): Promise<Answer> {
  const target = URL.parse(url);
  if (target === null || !isTargetAllowed(target, agents.addresses))
    return Promise.reject(new EgressFailure('address not allowed'));
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const timeoutMs = Math.min(reading.timeoutMs, totalTimeoutMs);
  const handler = new ExchangeHandler(resolve, reject, { ...reading, timeoutMs });
  try {
    agents.agentFor(target.origin).dispatch(
      {
        ...request,
        origin: target.origin,
        path: target.pathname + target.search,
        headers: { ...request.headers, 'accept-encoding': 'identity' },
      },
      handler,
    );
  } catch (error) {
    handler.onResponseError(undefined, error);
  }
  return promise;
}

/**
 * Follows one exchange. Where a truncated body is kept, the status decides as soon as it arrives: a body that stalls,
 * breaks or never ends is only truncated.
 */
class ExchangeHandler implements Dispatcher.DispatchHandler {
  readonly #resolve: (answer: Answer) => void;
  readonly #reject: (failure: EgressFailure) => void;
  readonly #reading: Reading;
  readonly #startedAt = performance.now();
  readonly #timer: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | undefined;
  #response: Pick<Answer, 'status' | 'headers'> | undefined;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #isOver = false;

  constructor(resolve: (answer: Answer) => void, reject: (failure: EgressFailure) => void, reading: Reading) {
    this.#resolve = resolve;
    this.#reject = reject;
    this.#reading = reading;
    this.#timer = setTimeout(() => this.#end('timed out'), reading.timeoutMs);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Timed out while it waited for a connection: it must not be sent any more.
    if (this.#isOver) controller.abort(new EgressFailure('timed out'));
    this.#controller = controller;
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return;
    const retryAfter = [headers['retry-after']].flat()[0];
    const contentEncoding = [headers['content-encoding'] ?? ''].flat().join(', ').toLowerCase();
    this.#response = { status, headers: { retryAfter, contentEncoding } };
    const { cut, maxBytes } = this.#reading;
    if (cut === 'refused' && Number(headers['content-length'] ?? 0) > maxBytes) this.#end('too large');
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isOver) return;
    const { maxBytes, cut } = this.#reading;
    this.#chunks.push(chunk.subarray(0, maxBytes - this.#bytes));
    this.#bytes += chunk.length;
    // A kept body ends at the limit; a refused one must not exceed it.
    if (cut === 'kept' ? this.#bytes >= maxBytes : this.#bytes > maxBytes) this.#end('too large');
  }

  onResponseEnd(): void {
    this.#end(undefined);
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: unknown): void {
    this.#end(reasonOf(error), error);
  }

  /** Without a reason the response is complete, and the connection is kept. */
  #end(reason: EgressReason | undefined, cause?: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    if (reason !== undefined) this.#controller?.abort(new EgressFailure(reason));
    if (this.#response === undefined || (reason !== undefined && this.#reading.cut === 'refused')) {
      this.#reject(new EgressFailure(reason ?? 'malformed response', { cause }));
      return;
    }
    this.#resolve({
      ...this.#response,
      bytes: Buffer.concat(this.#chunks),
      latencyMs: Math.round(performance.now() - this.#startedAt),
    });
  }
}

function reasonOf(error: unknown): EgressReason {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof EgressFailure) return cause.reason;
  }
  if (error instanceof errors.ConnectTimeoutError) return 'timed out';
  if (error instanceof errors.HTTPParserError || error instanceof errors.HeadersOverflowError)
    return 'malformed response';
  if (error instanceof errors.SocketError) return 'connection reset';
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'ENOTFOUND' || code.startsWith('EAI_')) return 'name not resolved';
  if (code === 'ECONNRESET' || code === 'EPIPE') return 'connection reset';
  if (/CERT|SSL|TLS|SELF_SIGNED|UNABLE_TO_VERIFY|EPROTO/.test(code)) return 'tls failed';
  return 'connection failed';
}
