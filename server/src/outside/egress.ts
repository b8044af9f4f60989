import { type LookupAddress, type LookupOptions, lookup as systemLookup } from 'node:dns';
import { Agent, buildConnector, type Dispatcher, errors } from 'undici';
import { type AddressPolicy, isHostAllowed, isResolvedAddressAllowed } from './address.ts';

/** Why an exchange came to nothing. Says no more about a refused target than that it was refused. */
export type EgressReason =
  | 'address not allowed'
  | 'name not resolved'
  | 'connection failed'
  | 'connection reset'
  | 'tls failed'
  | 'timed out'
  | 'malformed response';

/** No usable answer came back; the receiver may or may not have got the request. */
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
  /** The first 64 KiB as they came, never decompressed, read as UTF-8. */
  readonly bodyText: string;
  readonly latencyMs: number;
}

/** HTTPS to addresses that strangers name. */
export interface Egress {
  /** Throws `EgressFailure`. `timeoutMs` covers everything from the name's resolution to the body's end; 15 s at most. */
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

/** The shape of `dns.lookup` with `all`; tests pass resolvers that lie. */
export type Lookup = (
  hostname: string,
  options: LookupOptions & { all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

export interface EgressOptions {
  readonly addresses: AddressPolicy;
  readonly lookup?: Lookup;
  /** Certificate authorities instead of the system's, in PEM. Without it NODE_EXTRA_CA_CERTS counts too. */
  readonly ca?: string;
}

const totalTimeoutMs = 15_000;
const connectTimeoutMs = 10_000;
const maxResponseBytes = 64 * 1024;
const maxHeaderBytes = 16 * 1024;
const connectionsPerOrigin = 256;
const maxOrigins = 4096;

/**
 * Opens connections only to addresses that the policy allows. Both checks are needed: a name's addresses are judged
 * inside the connection's own lookup, so that a resolver cannot answer differently a second time; and literal
 * addresses, for which no lookup ever runs, before connecting.
 */
export function createEgress(options: EgressOptions): Egress {
  const agent = new Agent({
    connect: checkedConnector(options),
    connections: connectionsPerOrigin,
    maxOrigins,
    pipelining: 1,
    allowH2: false,
    maxHeaderSize: maxHeaderBytes,
    // One timer of ours covers the whole exchange.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  return {
    post: (url, request) => exchange(agent, url, request),
    close: () => agent.destroy(),
  };
}

function checkedConnector(options: EgressOptions): buildConnector.connector {
  const policy = options.addresses;
  const connect = buildConnector({
    allowH2: false,
    timeout: connectTimeoutMs,
    // Said aloud, so that NODE_TLS_REJECT_UNAUTHORIZED cannot turn verification off here.
    rejectUnauthorized: true,
    lookup: checkedLookup(options.lookup ?? systemLookup, policy),
    ...(options.ca === undefined ? {} : { ca: options.ca }),
  });
  return (target, callback) => {
    if (target.protocol !== 'https:' || !isHostAllowed(target.hostname, policy)) {
      callback(new EgressFailure('address not allowed'), null);
      return;
    }
    connect(target, callback);
  };
}

type NodeLookup = (
  hostname: string,
  options: LookupOptions,
  callback: (error: NodeJS.ErrnoException | null, address: string | LookupAddress[], family?: number) => void,
) => void;

/** A name is refused whole when one of its addresses is: an honest receiver has no private address beside a public one. */
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

function exchange(
  agent: Agent,
  url: string,
  request: Parameters<Egress['post']>[1],
): Promise<EgressResponse> {
  const target = URL.parse(url);
  if (target === null || target.protocol !== 'https:')
    return Promise.reject(new EgressFailure('address not allowed'));
  const { promise, resolve, reject } = Promise.withResolvers<EgressResponse>();
  const handler = new ExchangeHandler(
    resolve,
    reject,
    Math.min(request.timeoutMs ?? totalTimeoutMs, totalTimeoutMs),
  );
  try {
    agent.dispatch(
      {
        origin: target.origin,
        path: target.pathname + target.search,
        method: 'POST',
        headers: { ...request.headers, 'accept-encoding': 'identity' },
        body: request.body,
      },
      handler,
    );
  } catch (error) {
    handler.onResponseError(undefined, error);
  }
  return promise;
}

/** Follows one exchange. A status decides once it is there: a body that stalls, breaks or never ends is only cut. */
class ExchangeHandler implements Dispatcher.DispatchHandler {
  readonly #resolve: (response: EgressResponse) => void;
  readonly #reject: (failure: EgressFailure) => void;
  readonly #startedAt = performance.now();
  readonly #timer: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | undefined;
  #response: { status: number; retryAfter: string | undefined } | undefined;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #isOver = false;

  constructor(
    resolve: (response: EgressResponse) => void,
    reject: (failure: EgressFailure) => void,
    timeoutMs: number,
  ) {
    this.#resolve = resolve;
    this.#reject = reject;
    this.#timer = setTimeout(() => this.#end('timed out'), timeoutMs);
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
    const retryAfter = headers['retry-after'];
    this.#response = { status, retryAfter: Array.isArray(retryAfter) ? retryAfter[0] : retryAfter };
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isOver) return;
    this.#chunks.push(chunk.subarray(0, maxResponseBytes - this.#bytes));
    this.#bytes += chunk.length;
    if (this.#bytes >= maxResponseBytes) this.#end('malformed response');
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
    if (this.#response === undefined) {
      this.#reject(new EgressFailure(reason ?? 'malformed response', { cause }));
      return;
    }
    this.#resolve({
      status: this.#response.status,
      headers: { retryAfter: this.#response.retryAfter },
      bodyText: Buffer.concat(this.#chunks).toString('utf8'),
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
