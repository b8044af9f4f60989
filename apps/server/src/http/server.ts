import { errorCatalogue, fieldRefusal, Refusal } from '@florin/protocol/error.ts';
import { newId } from '@florin/protocol/id.ts';
import { statusOf } from '@florin/protocol/openapi-errors.ts';
import type { Route, RouteTable } from '@florin/protocol/route.ts';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Random } from '#outside/random.ts';
import type { Log } from '#telemetry/log.ts';
import type { AnsweredRequest } from '#telemetry/metrics.ts';
import type { Traces } from '#telemetry/traces.ts';
import { parseBody } from './body.ts';
import { answerBrokenRequest } from './broken-request.ts';
import {
  addHomePage,
  browserPagePolicy,
  type HomeOptions,
  isForBrowser,
  renderFailurePage,
  renderPayerFailure,
} from './browser-page.ts';
import { failureBody } from './envelope.ts';
import { bodyLimitBytes, type FailureReport, isOutage, reportFailure } from './failure.ts';
import { keepReadableAddresses, untrustedPeerWarning } from './forwarded.ts';
import { addHealthRoutes, type Readiness } from './health.ts';
import { requestLogger } from './request-log.ts';
import { traceRequests } from './request-trace.ts';
import { jsonType } from './route-handler.ts';
import { shownPart } from './schema-check.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The envelope's code; 0 until the request has failed. */
    failureCode: number;
  }
  interface FastifyContextConfig {
    /** The effect that chooses this route's database error; `query` when absent. */
    effect?: Route['effect'];
    /** HTTP statuses of refusals on this route that differ from the catalogue's. */
    statuses?: RouteTable['statuses'];
    /** The route's query parameters; others are refused. None when absent. `any` for pages, which ignore them. */
    query?: readonly string[] | 'any';
  }
}

/**
 * Adds a door's routes. Each door has its own scope: its hooks, error handlers and content-type parsers affect only its
 * routes.
 */
export type Door = (server: FastifyInstance) => void | Promise<void>;

export interface ServerOptions extends HomeOptions {
  readonly log: Log;
  readonly random: Random;
  /** The service's public origin from the configuration, such as `https://pay.example.com`; never the Host header. */
  readonly origin: string;
  readonly doors: readonly Door[];
  /** Whether the service can accept work, for GET /health/ready. */
  readonly ready: () => Promise<Readiness>;
  /** Addresses or networks of trusted proxies, whose X-Forwarded-For counts; none by default. */
  readonly trustedProxies?: readonly string[] | undefined;
  /** The share of answered requests that get a line in the log, from 0 to 1; all when absent. */
  readonly requestLogShare?: number | undefined;
  /** Called after each answer, for measurements. */
  readonly onAnswered?: ((answered: AnsweredRequest) => void) | undefined;
  readonly traces?: Traces | undefined;
}

// A body must arrive within 10 s; a slow client holds a socket, never a database connection.
const requestTimeoutMs = 10_000;
// How late a time-out may be detected; the runtime's default is 30 s.
const timeoutCheckMs = 2_000;
// Longer than the 60 s of common proxies, so that they never reuse a socket that this server just closed.
const keepAliveTimeoutMs = 72_000;
// A path parameter of any length reaches its route, which checks it after the key. This is Node's limit on URLs and
// headers.
const maxParamLength = 16 * 1024;

/**
 * Builds the HTTP server with all its doors; it does not listen yet. Every answer has a Request-Id and security
 * headers; every failure has the envelope. Unknown paths are 404000; known paths with another method are 405000 with
 * Allow.
 */
export async function buildServer(options: ServerOptions): Promise<FastifyInstance> {
  const docsUrl = `${options.origin}/docs/errors`;
  const nextRequestId = () => newId('request', (size) => options.random.bytes(size));
  const server = fastify({
    logger: false,
    bodyLimit: bodyLimitBytes,
    requestTimeout: requestTimeoutMs,
    http: { headersTimeout: requestTimeoutMs, connectionsCheckingInterval: timeoutCheckMs },
    keepAliveTimeout: keepAliveTimeoutMs,
    trustProxy: options.trustedProxies === undefined ? false : [...options.trustedProxies],
    genReqId: nextRequestId,
    // Doors wait for nothing outside. Ten seconds to load one are too few on a slow machine, whose starter has a limit of its own.
    pluginTimeout: 0,
    // While closing, requests on open connections are still served; fastify's own 503 would lack the envelope.
    return503OnClosing: false,
    routerOptions: { maxParamLength },
    clientErrorHandler: (error, socket) => answerBrokenRequest(error, socket, nextRequestId(), docsUrl),
    rewriteUrl: ({ url = '' }) => decodableUrl(url),
    // A URL without a path, such as `*`.
    frameworkErrors: (error, request, reply) => {
      setHeaders(request, reply, options.origin);
      const isUnroutable = error.code === 'FST_ERR_BAD_URL' || error.code === 'FST_ERR_MAX_PARAM_LENGTH';
      const known = isUnroutable ? new Refusal('route_unknown') : error;
      answerFailure(options, docsUrl, known, request, reply);
    },
  });
  server.decorateRequest('failureCode', 0);
  server.decorateRequest('trace', undefined);
  if (options.traces !== undefined) traceRequests(server, options.traces);
  server.removeAllContentTypeParsers();
  server.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    (request: FastifyRequest, raw: Buffer, done) => {
      try {
        refuseEncoded(request);
        done(null, parseBody(raw));
      } catch (error) {
        done(error as Error);
      }
    },
  );
  // Callbacks, because a promise for each hook of each request costs more than the hooks themselves.
  const warnOfProxy = untrustedPeerWarning(options.log);
  const logRequest = requestLogger(options);
  server.addHook('onRequest', (request, reply, done) => {
    keepReadableAddresses(request);
    warnOfProxy(request);
    setHeaders(request, reply, options.origin);
    // Refused here and not in the not-found handler, so that no body is read first.
    done(request.is404 ? new Refusal('route_unknown', `${request.method} ${pathOf(request)}`) : undefined);
  });
  // After onRequest, where doors check keys.
  server.addHook('preHandler', (request, _reply, done) => done(unknownQueryOf(request)));
  server.addHook('onResponse', (request, reply, done) => {
    logRequest(request, reply);
    const { method, failureCode: code, routeOptions } = request;
    const { statusCode: status, elapsedTime } = reply;
    options.onAnswered?.({
      method,
      route: routeOptions.url ?? '',
      status,
      code,
      seconds: elapsedTime / 1_000,
    });
    done();
  });
  server.setErrorHandler((error, request, reply) => answerFailure(options, docsUrl, error, request, reply));
  server.setNotFoundHandler(() => {
    throw new Refusal('route_unknown');
  });
  const methods = collectMethods(server);
  addHealthRoutes(server, options.ready);
  addHomePage(server, options);
  for (const door of options.doors) await server.register(async (scope) => door(scope));
  await server.after();
  refuseOtherMethods(server, methods);
  await server.ready();
  return server;
}

function pathOf(request: FastifyRequest): string {
  return request.url.split('?', 1)[0]?.slice(0, 200) ?? '';
}

/**
 * The URL with a decodable path. A path that cannot be decoded, or that contains NUL, is escaped literally. Its route
 * then finds an unknown id or name, after the same key check as every other.
 */
function decodableUrl(url: string): string {
  if (!url.includes('%')) return url;
  const end = /[?#]/.exec(url)?.index ?? url.length;
  const path = url.slice(0, end);
  return isDecodable(path) ? url : path.replaceAll('%', '%25') + url.slice(end);
}

function isDecodable(path: string): boolean {
  try {
    return !decodeURIComponent(path).includes('\0');
  } catch (error) {
    if (error instanceof URIError) return false;
    throw error;
  }
}

function unknownQueryOf(request: FastifyRequest): Refusal | undefined {
  const { query: known = [] } = request.routeOptions.config;
  if (known === 'any') return undefined;
  for (const name in request.query as Record<string, unknown>) {
    if (!known.includes(name)) return fieldRefusal(shownPart(name), 'is not a known query parameter');
  }
  return undefined;
}

/** A compressed body would only fail to parse; this answer is clearer than "malformed". */
function refuseEncoded(request: FastifyRequest): void {
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw new Refusal('media_type_unsupported', 'send the body without Content-Encoding');
  }
}

/** The headers of every answer. Doors that serve pages replace the policies that are too strict for them. */
function setHeaders(request: FastifyRequest, reply: FastifyReply, origin: string): void {
  reply.headers({
    'request-id': request.id,
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': 'camera=(), geolocation=(), microphone=()',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  });
  if (origin.startsWith('https:')) {
    reply.header('strict-transport-security', 'max-age=63072000; includeSubDomains');
  }
}

function answerFailure(
  options: ServerOptions,
  docsUrl: string,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const { effect = 'query', statuses } = request.routeOptions.config;
  const report = reportFailure(error, effect, request.routeOptions.bodyLimit);
  logFailure(options.log, report, error, request);
  const { failure } = report;
  request.failureCode = errorCatalogue[failure.slug].code;
  const status = statusOf({ statuses }, failure.slug);
  if (failure.retryAfterSeconds !== undefined) reply.header('retry-after', String(failure.retryAfterSeconds));
  else if (status === 503 || isOutage(failure.slug)) reply.header('retry-after', '5');
  reply.code(status);
  if (isForBrowser(request)) {
    reply
      .type('text/html; charset=utf-8')
      .headers({ 'content-security-policy': browserPagePolicy, vary: 'accept' })
      .send(
        (status === 429 || status >= 500 ? renderPayerFailure(request, failure) : undefined) ??
          renderFailurePage(failure, request.id),
      );
    return;
  }
  reply.type(jsonType).send(failureBody(failure, { requestId: request.id, docsUrl }));
}

function logFailure(log: Log, report: FailureReport, error: unknown, request: FastifyRequest): void {
  const fields = { requestId: request.id, method: request.method, route: request.routeOptions.url ?? '' };
  if (report.cause === 'bug') log.error('http_bug', error, fields);
  if (report.cause === 'outage') log.error('http_database_unavailable', error, fields);
}

/** Collects the methods of every path as the doors add their routes. */
function collectMethods(server: FastifyInstance): Map<string, Set<string>> {
  const methods = new Map<string, Set<string>>();
  server.addHook('onRoute', ({ url, method }) => {
    const known = methods.get(url) ?? new Set<string>();
    for (const name of [method].flat()) known.add(name);
    methods.set(url, known);
  });
  return methods;
}

/** Answers (405000 with Allow) every method that a known path does not have, before any body is read. */
function refuseOtherMethods(
  server: FastifyInstance,
  methods: ReadonlyMap<string, ReadonlySet<string>>,
): void {
  for (const [url, known] of [...methods]) {
    const allow = [...known].sort().join(', ');
    const others = server.supportedMethods.filter((method) => !known.has(method));
    if (others.length === 0) continue;
    server.route({
      method: others,
      url,
      onRequest: async (request, reply) => {
        reply.header('allow', allow);
        throw new Refusal('method_not_allowed', `${request.method}; allowed: ${allow}`);
      },
      handler: async () => errorCatalogue.method_not_allowed.text,
    });
  }
}
