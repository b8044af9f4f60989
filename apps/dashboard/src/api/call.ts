import type { dashboardApi } from '@florin/protocol/dashboard-api.ts';
import type { BodyOf, ParamsOf, QueryOf, ReplyOf, Route } from '@florin/protocol/route.ts';
import { untilAnswering } from './connection.ts';
import { ApiFailure, type FailureSlug } from './failure.ts';
import { noteServiceTime } from './service-clock.ts';

type Routes = (typeof dashboardApi)['routes'];
type RouteByCall = {
  [Name in keyof Routes as `${Routes[Name]['method']} ${Routes[Name]['path']}`]: Routes[Name];
};

/** An operation of the dashboard's API by method and path, as `GET /product/detail/:productId`. */
export type DashboardCall = keyof RouteByCall;
/** Operations that change nothing; searches among them are sent by POST. */
export type ReadCall = {
  [C in DashboardCall]: RouteByCall[C]['effect'] extends 'query' ? C : never;
}[DashboardCall];
export type WriteCall = Exclude<DashboardCall, ReadCall>;

/** `data` of the operation's answer. */
export type ReplyTo<C extends DashboardCall> = ReplyOf<RouteByCall[C]>;

type Part<R extends Route, Name extends 'params' | 'query' | 'body', Value> = R[Name] extends object
  ? { readonly [Key in Name]: Value }
  : { readonly [Key in Name]?: never };
type OptionalQuery<Value> = Value extends { readonly query: infer Query }
  ? Omit<Value, 'query'> & { readonly query?: Query }
  : Value;

/** What a call takes: exactly the parts that its route has. */
export type InputOf<C extends DashboardCall> = Part<RouteByCall[C], 'params', ParamsOf<RouteByCall[C]>> &
  OptionalQuery<Part<RouteByCall[C], 'query', QueryOf<RouteByCall[C]>>> &
  Part<RouteByCall[C], 'body', BodyOf<RouteByCall[C]>>;

/** The input may be left out where nothing is required. */
export type InputArguments<C extends DashboardCall> =
  Record<never, never> extends InputOf<C> ? [input?: InputOf<C>] : [input: InputOf<C>];

export interface AnyInput {
  readonly params?: Readonly<Record<string, string | number>>;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
}

interface SendOptions {
  /** The merchant that the call is for. */
  readonly merchantId: string | undefined;
  /** Makes a repeated write the same write. */
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
}

/** Longer than the service takes for anything. */
const patienceMs = 60_000;

/** The method and URL of a call. */
export function requestOf(call: string, { params = {}, query = {} }: AnyInput) {
  const [method = '', path = ''] = call.split(' ');
  const filled = path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(params[name])));
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const search = given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
  return { method, url: `/dashboard/api${filled}${search}` };
}

/** Sends one request, and returns `data` of its answer or throws ApiFailure. */
export async function send(call: string, input: AnyInput, options: SendOptions): Promise<unknown> {
  const response = await fetchCall(call, input, options);
  const text = await response.text().catch(refuseConnection);
  const body = parse(text);
  if (body === undefined) {
    if (response.status >= 500) refuseConnection();
    throw new ApiFailure({
      slug: 'internal',
      message: `the service answered ${response.status} without an envelope`,
    });
  }
  if (body.code === 0) return body.data;
  const retryAfterSeconds = Number(response.headers.get('retry-after') ?? 0);
  throw new ApiFailure({ ...body.error, code: body.code, message: body.message, retryAfterSeconds });
}

/** Sends one request whose answer is no envelope, such as a CSV. */
export async function sendForText(
  call: string,
  input: AnyInput,
  options: SendOptions,
): Promise<{ readonly text: string; readonly headers: Headers }> {
  const response = await fetchCall(call, input, options);
  const text = await response.text().catch(refuseConnection);
  if (response.ok) return { text, headers: response.headers };
  const body = parse(text);
  throw new ApiFailure({
    slug: 'internal',
    ...body?.error,
    message: body?.message ?? `the service answered ${response.status}`,
  });
}

function fetchCall(call: string, input: AnyInput, options: SendOptions): Promise<Response> {
  const { method, url } = requestOf(call, input);
  const { merchantId, idempotencyKey, signal } = options;
  const limits = [AbortSignal.timeout(patienceMs), ...(signal === undefined ? [] : [signal])];
  return fetch(url, {
    method,
    credentials: 'same-origin',
    signal: AbortSignal.any(limits),
    headers: {
      accept: 'application/json',
      ...(merchantId === undefined ? {} : { 'florin-merchant': merchantId }),
      ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
      ...(input.body === undefined ? {} : { 'content-type': contentTypeOf(input.body) }),
    },
    ...(input.body === undefined ? {} : { body: bodyOf(input.body) }),
  })
    .then((response) => {
      noteServiceTime(response.headers.get('date'));
      return response;
    })
    .catch((error: unknown) => {
      if (signal?.aborted === true) throw error;
      return refuseConnection();
    });
}

/** Reads a file of the pages' own origin. */
export async function fetchFile(path: string, signal: AbortSignal): Promise<Blob> {
  const response = await fetch(path, { signal }).catch((error: unknown) => {
    if (signal.aborted) throw error;
    return refuseConnection();
  });
  if (response.ok) return response.blob();
  throw new ApiFailure({ slug: 'internal', message: `the file answered ${response.status}` });
}

/** A file goes out as it is, everything else as JSON. */
function bodyOf(body: unknown): BodyInit {
  return body instanceof Blob ? body : JSON.stringify(body);
}

function contentTypeOf(body: unknown): string {
  if (!(body instanceof Blob)) return 'application/json';
  return body.type === '' ? 'application/octet-stream' : body.type;
}

function refuseConnection(): never {
  void untilAnswering();
  throw new ApiFailure({ slug: 'no_connection', message: 'no answer came', retryable: true });
}

interface Envelope {
  readonly code: number;
  readonly message: string;
  readonly data: unknown;
  readonly error: {
    readonly slug: FailureSlug;
    readonly param: string;
    readonly retryable: boolean;
    readonly requestId: string;
  };
}

/** The envelope; undefined for an answer that is none, such as a proxy's page. */
function parse(text: string): Envelope | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && 'code' in value ? (value as Envelope) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
