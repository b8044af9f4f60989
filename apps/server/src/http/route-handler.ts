import { deprecationHeaders } from '@florin/protocol/deprecation.ts';
import { type ErrorName, Refusal } from '@florin/protocol/error.ts';
import type { BodyOf, ParamsOf, QueryOf, ReplyOf, Route } from '@florin/protocol/route.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { TSchema } from 'typebox';
import type { AddressPolicy } from '#outside/address.ts';
import { type ParsedBody, parseBody } from './body.ts';
import type { ReplyShape } from './envelope.ts';
import type { WithRawJson } from './raw-json.ts';
import { compileCheck, type SchemaCheck, shownPart } from './schema-check.ts';

/** The differences between doors on one server. */
export interface DoorShape<Caller> {
  /** Prefix of every path of the door, such as `/payment/v1`. */
  readonly basePath: string;
  readonly shape: ReplyShape;
  /** In the local environment https URLs of a body may be plain http to loopback. */
  readonly addresses?: AddressPolicy;
  /**
   * Returns the caller, or throws a Refusal. Runs before the body is read, so that unauthorized callers cost little and
   * always get the same answer.
   */
  authorize(request: FastifyRequest, route: Route, reply: FastifyReply): Promise<Caller> | Caller;
}

/** One checked request. */
export interface RouteCall<R extends Route, Caller> {
  readonly params: ParamsOf<R>;
  readonly query: QueryOf<R>;
  readonly body: BodyOf<R>;
  /** The body exactly as sent; empty for GET. */
  readonly bodyText: string;
  readonly caller: Caller;
  readonly requestId: string;
  /** The client's IP address, resolved through the configured proxies. */
  readonly clientAddress: string;
}

/** `data` of an answer; parts of it may be finished JSON (rawJson). */
export type ReplyData<R extends Route> = WithRawJson<ReplyOf<R>>;

/** A complete stored answer: its body is sent byte for byte, without an envelope. */
export class FinishedReply {
  readonly body: string | Buffer;
  readonly headers: Readonly<Record<string, string | string[]>>;

  constructor(body: string | Buffer, headers: Readonly<Record<string, string | string[]>> = {}) {
    this.body = body;
    this.headers = headers;
  }
}

/** Returns `data` of the answer, or the whole of it. Throws a Refusal for expected failures. */
type Handler<R extends Route, Caller> = (call: RouteCall<R, Caller>) => Promise<ReplyData<R> | FinishedReply>;

/** The route alone says what `R` is. To infer it from the handler's answer too, the compiler would compare all schemas. */
export type AddRoute<Caller> = <R extends Route>(route: R, handle: NoInfer<Handler<R, Caller>>) => void;

/**
 * Builds the function with which a door adds its routes. A route authorizes, checks parameters and body against its
 * schemas, calls the handler, and writes the answer in the door's shape.
 * @example
 * const addRoute = routesOf(server, { basePath: '/payment/v1', shape: envelope, authorize });
 * addRoute(merchantRoutes.createProduct, async ({ body, caller }) => ...);
 */
export function routesOf<Caller>(server: FastifyInstance, door: DoorShape<Caller>): AddRoute<Caller> {
  const callers = new WeakMap<FastifyRequest, { caller: Caller }>();
  return (route, handle) => {
    const read = requestReader(route, door.addresses);
    const ending = route.deprecation === undefined ? undefined : deprecationHeaders(route.deprecation);
    server.route({
      method: route.method,
      url: door.basePath + route.path,
      config: { effect: route.effect, query: Object.keys(route.query?.properties ?? {}) },
      onRequest: (request, reply, done) => {
        // Before any refusal, so that every caller learns of the deprecation.
        if (ending !== undefined) reply.headers(ending);
        const admit = (caller: Caller) => {
          callers.set(request, { caller });
          done();
        };
        // Public routes need no promise.
        const caller = door.authorize(request, route, reply);
        if (caller instanceof Promise) caller.then(admit, done);
        else admit(caller);
      },
      handler: async (request, reply) => {
        const known = callers.get(request);
        if (known === undefined) throw new Error('a request was handled without having been authorized');
        const checked = read(request);
        const data = await handle({
          ...checked,
          caller: known.caller,
          requestId: request.id,
          clientAddress: request.ip,
        });
        reply.type(jsonType);
        if (!(data instanceof FinishedReply)) return door.shape.success(data);
        reply.headers(data.headers);
        return data.body;
      },
    });
  };
}

/** The result of actions without another one. */
export const success = { success: true } as const;

export const jsonType = 'application/json; charset=utf-8';

type CheckedRequest<R extends Route> = Pick<RouteCall<R, unknown>, 'params' | 'query' | 'body' | 'bodyText'>;

function requestReader<R extends Route>(
  route: R,
  addresses: AddressPolicy | undefined,
): (request: FastifyRequest) => CheckedRequest<R> {
  const checkParams = route.params === undefined ? undefined : compileCheck(route.params, 'path');
  const checkQuery = route.query === undefined ? undefined : compileCheck(route.query, 'query');
  const checkBody = route.body === undefined ? undefined : compileCheck(route.body, 'body', addresses);
  const integers = integerNames(route.params);
  return (request) => {
    const params = numbered(request.params as Record<string, string>, integers);
    refuseIf(checkParams, params, (refusal) => notFoundOf(refusal, params));
    const query = checkQuery === undefined ? {} : request.query;
    refuseIf(checkQuery, query);
    const parsed = checkBody === undefined ? undefined : bodyOf(request);
    refuseIf(checkBody, parsed?.value);
    // The checks above guarantee these types.
    return { params, query, body: parsed?.value, bodyText: parsed?.text ?? '' } as CheckedRequest<R>;
  };
}

function refuseIf(
  check: SchemaCheck | undefined,
  value: unknown,
  wordsOf: (refusal: Refusal) => Refusal = (refusal) => refusal,
): void {
  const refusal = check?.(value);
  if (refusal !== undefined) throw wordsOf(refusal);
}

/** The answer to an impossible id in a path: the same as to an unknown id. */
export const idErrors: Readonly<Record<string, ErrorName>> = {
  accountId: 'account_not_found',
  deliveryId: 'delivery_not_found',
  eventId: 'event_not_found',
  linkId: 'link_not_found',
  refundId: 'refund_not_found',
  sessionId: 'session_not_found',
  webhookId: 'webhook_not_found',
};

function notFoundOf(refusal: Refusal, params: Readonly<Record<string, string | number>>): Refusal {
  const { param = '' } = refusal.details;
  const slug = idErrors[param];
  return slug === undefined ? refusal : new Refusal(slug, shownPart(String(params[param])));
}

function bodyOf(request: FastifyRequest): ParsedBody {
  // Without a body no content-type parser runs.
  if (request.body === undefined || request.body === null) return parseBody(new Uint8Array());
  return request.body as ParsedBody;
}

function integerNames(params: Route['params']): readonly string[] {
  const properties: Record<string, TSchema & { type?: string }> = params?.properties ?? {};
  return Object.entries(properties)
    .filter(([, schema]) => schema.type === 'integer')
    .map(([name]) => name);
}

// Longer ones are inexact as numbers, but beyond every limit all the same.
const canonicalInteger = /^(0|[1-9][0-9]*)$/;

/** Converts the path's integers to numbers. Text with anything but plain digits stays text and fails the check. */
function numbered(
  params: Record<string, string>,
  integers: readonly string[],
): Record<string, string | number> {
  const values: Record<string, string | number> = { ...params };
  for (const name of integers) {
    const text = params[name] ?? '';
    if (canonicalInteger.test(text)) values[name] = Number(text);
  }
  return values;
}

/** Refuses (api_key_forbidden, 403) a key without the scope that the route needs, and names the scope. */
export function requirePermission(route: Route, held: ReadonlySet<string>): void {
  if (route.permissions.length === 0 || route.permissions.some((permission) => held.has(permission))) return;
  throw new Refusal('api_key_forbidden', { detail: route.permissions.join(' or ') });
}
