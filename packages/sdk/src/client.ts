import { checkIdempotencyKey, checkLimits, idText, jsonOf, refuseUnknown } from './argument.ts';
import { type ErrorFacts, FlorinError, isErrorSlug } from './error.ts';
import type { SdkOutside } from './outside.ts';
import { type Operations, routes } from './wire.gen.ts';

/** What every call takes last. */
export interface CallOptions {
  /**
   * Names this change, so that a repetition of it gets the first answer: a text of yours, such as the order's number, of at
   * most 255 characters of ASCII. Without one the SDK makes one for each call, and keeps it over its retries.
   */
  readonly idempotencyKey?: string | undefined;
  /** In place of the client's own. */
  readonly maxRetries?: number | undefined;
  /** In place of the client's own. */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

const callOptionNames = [
  'idempotencyKey',
  'maxRetries',
  'timeoutMs',
  'signal',
] as const satisfies readonly (keyof CallOptions)[];

/** Refuses options of a call that are not known or cannot be right. */
export function checkCallOptions(given: CallOptions | undefined): void {
  refuseUnknown(given, callOptionNames);
  const { idempotencyKey }: CallOptions = Object(given);
  checkIdempotencyKey(idempotencyKey);
}

/** What one operation takes. */
export type OperationInput<Id extends keyof Operations> = {
  readonly [Part in 'params' | 'query' | 'body' as Operations[Id][Part] extends undefined ? never : Part]?:
    | Operations[Id][Part]
    | undefined;
};

/** Sends one operation and answers its data. Throws FlorinError. */
export interface Send {
  <Id extends keyof Operations>(
    id: Id,
    input: OperationInput<Id>,
    options?: CallOptions,
  ): Promise<Operations[Id]['reply']>;
  /** Base of the merchant API, without a slash at its end. */
  readonly api: string;
  /** Waits by chance, up to so many milliseconds. Throws FlorinError (aborted). */
  pauseUpTo(mostMs: number, signal: AbortSignal | undefined): Promise<void>;
}

export interface ClientSettings {
  /** Base of the merchant API, without a slash at its end. */
  readonly api: string;
  readonly key: string;
  readonly maxRetries: number;
  readonly timeoutMs: number;
}

/** The first wait before a retry, the longest, and the longest Retry-After that is waited for, in milliseconds. */
const firstWaitMs = 500;
const longestBackoffMs = 8_000;
const longestRetryAfterMs = 60_000;
/** Characters of one answer. A page has at most 100 sessions of some 80 KiB. */
const maxAnswerCharacters = 32 * 1024 * 1024;
const sdkVersion = '0.1.0';

/** Sends operations to one installation, and repeats what may succeed later. */
export function openClient(settings: ClientSettings, outside: SdkOutside): Send {
  const send = async <Id extends keyof Operations>(
    id: Id,
    input: OperationInput<Id>,
    given?: CallOptions,
  ): Promise<Operations[Id]['reply']> => {
    // Programs in JavaScript may give null.
    const options: CallOptions = Object(given);
    const { maxRetries = settings.maxRetries, timeoutMs = settings.timeoutMs, signal } = options;
    checkCallOptions(given);
    checkLimits({ maxRetries, timeoutMs });
    const { url, init } = requestOf(settings, id, input, options, outside);
    for (let attempt = 0; ; attempt += 1) {
      const outcome = await attemptOnce(outside, url, init, { timeoutMs, signal });
      if ('data' in outcome) return outcome.data as Operations[Id]['reply'];
      const waitMs = Math.max(backoffMs(attempt, outside.random()), outcome.retryAfterMs);
      const isLast = attempt >= maxRetries || waitMs > longestRetryAfterMs;
      if (isLast || !outcome.error.retryable) throw outcome.error;
      await pause(waitMs, signal);
    }
  };
  const pause = async (waitMs: number, signal: AbortSignal | undefined) => {
    await outside.pause(waitMs, signal);
    if (signal?.aborted === true) throw abortError(signal);
  };
  const pauseUpTo: Send['pauseUpTo'] = (mostMs, signal) => pause(mostMs * outside.random(), signal);
  return Object.assign(send, { api: settings.api, pauseUpTo });
}

/** Half of the wait is by chance, so that clients that failed together do not return together. */
function backoffMs(attempt: number, random: number): number {
  const full = Math.min(firstWaitMs * 2 ** attempt, longestBackoffMs);
  return full / 2 + (full / 2) * random;
}

function requestOf<Id extends keyof Operations>(
  { api, key }: ClientSettings,
  id: Id,
  input: { params?: object | undefined; query?: object | undefined; body?: unknown },
  { idempotencyKey }: CallOptions,
  outside: SdkOutside,
): { url: string; init: RequestInit } {
  const { method, path, isChange } = routes[id];
  const params = new Map(Object.entries(input.params ?? {}));
  const placed = path.replaceAll(/:([A-Za-z]+)/g, (_match, name: string) =>
    encodeURIComponent(idText(name, params.get(name))),
  );
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(input.query ?? {}))
    if (value !== undefined) query.set(name, String(value));
  const headers: Record<string, string> = {
    authorization: `Bearer ${key}`,
    accept: 'application/json',
    'user-agent': `florin-sdk/${sdkVersion}`,
  };
  // The key is made once, here, and every retry sends it again.
  if (isChange) headers['idempotency-key'] = idempotencyKey ?? outside.randomUuid();
  if (method === 'POST') headers['content-type'] = 'application/json';
  const search = query.size === 0 ? '' : `?${query}`;
  return {
    url: `${api}${placed}${search}`,
    // A followed redirect would send a request to another host.
    init: {
      method,
      headers,
      redirect: 'manual',
      ...(method === 'POST' ? { body: jsonOf(input.body ?? {}) } : {}),
    },
  };
}

type Outcome = { readonly data: unknown } | { readonly error: FlorinError; readonly retryAfterMs: number };

async function attemptOnce(
  outside: SdkOutside,
  url: string,
  init: RequestInit,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal | undefined },
): Promise<Outcome> {
  // Called as a member, some runtimes refuse it.
  const { fetch } = outside;
  const ofTime = AbortSignal.timeout(timeoutMs);
  const either = signal === undefined ? ofTime : AbortSignal.any([signal, ofTime]);
  try {
    const response = await fetch(url, { ...init, signal: either });
    return outcomeOf(response, await limitedText(response), url);
  } catch (cause) {
    if (cause instanceof FlorinError) throw cause;
    if (signal?.aborted === true) throw abortError(signal);
    const error = ofTime.aborted
      ? new FlorinError('timed_out', `no answer within ${timeoutMs} ms`, { cause })
      : new FlorinError('connection_failed', `no connection to ${new URL(url).origin}`, { cause });
    return { error, retryAfterMs: 0 };
  }
}

function abortError(signal: AbortSignal): FlorinError {
  return new FlorinError('aborted', 'the caller has aborted', { cause: signal.reason });
}

async function limitedText(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  if (reader === undefined) return '';
  const decoder = new TextDecoder();
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    text += decoder.decode(value, { stream: true });
    if (text.length > maxAnswerCharacters) {
      await reader.cancel();
      throw new FlorinError('answer_invalid', `an answer of more than ${maxAnswerCharacters} characters`);
    }
  }
}

/** Statuses of proxies and of servers that start or stop, whose bodies are not the service's. */
const passingStatuses: ReadonlySet<number> = new Set([429, 500, 502, 503, 504]);

function outcomeOf(response: Response, text: string, url: string): Outcome {
  const { status, headers } = response;
  const answer = memberOf(parse(text));
  const code = answer('code');
  if (status === 200 && code === 0) return { data: answer('data') };
  const facts = { httpStatus: status, requestId: headers.get('request-id') ?? '' };
  const retryAfterMs = retryAfterOf(headers.get('retry-after'));
  if (typeof code !== 'number' || code === 0) {
    const { origin, pathname } = new URL(url);
    const message = `${origin}${pathname} answers HTTP ${status} without the service’s envelope`;
    const retryable = passingStatuses.has(status);
    return { error: new FlorinError('answer_invalid', message, { ...facts, retryable }), retryAfterMs };
  }
  return { error: refusalOf(code, answer, facts), retryAfterMs };
}

function refusalOf(code: number, answer: Member, facts: ErrorFacts): FlorinError {
  const error = memberOf(answer('error'));
  const slug = textOf(error('slug'));
  const message = `${textOf(answer('message'))} (${code})`;
  const known = isErrorSlug(slug) ? slug : 'unknown';
  return new FlorinError(known, message, {
    ...facts,
    code,
    unknownSlug: known === 'unknown' ? slug : '',
    param: textOf(error('param')),
    retryable: error('retryable') === true,
    remedy: textOf(error('remedy')),
    docUrl: textOf(error('docUrl')),
    data: answer('data'),
  });
}

function retryAfterOf(header: string | null): number {
  return header !== null && /^[0-9]{1,6}$/.test(header) ? Number(header) * 1_000 : 0;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Another program answers there; the caller reports it with the status.
    return undefined;
  }
}

type Member = (name: string) => unknown;

/** Reads members of a value that may be anything. */
function memberOf(value: unknown): Member {
  const members = typeof value === 'object' && value !== null ? new Map(Object.entries(value)) : new Map();
  return (name) => members.get(name);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
