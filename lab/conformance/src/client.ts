/** An answer of an interface, including the envelope. */
export interface ApiAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** The whole body. */
  readonly body: Record<string, unknown>;
  readonly code: number;
  readonly message: string;
  readonly data: unknown;
}

export interface RequestOptions {
  readonly body?: unknown;
  /** Replaces the client's own headers. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends requests to one interface, relative to its base URL. */
export interface Client {
  get(path: string, options?: RequestOptions): Promise<ApiAnswer>;
  /** Sends a string unchanged, and anything else as JSON. */
  post(path: string, body: unknown, options?: RequestOptions): Promise<ApiAnswer>;
  send(method: string, path: string, options?: RequestOptions): Promise<ApiAnswer>;
}

const timeoutMs = 30_000;
const mostWaits = 10;
const longestWaitSeconds = 60;

/**
 * Makes a client, which sends the key if there is one. When the service limits the rate, the client waits and
 * retries.
 */
export function clientOf(baseUrl: string, key?: string): Client {
  const authorization = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const send: Client['send'] = async (method, path, options = {}) => {
    const { body } = options;
    const request = {
      method,
      headers: options.headers ?? { ...authorization, ...(body === undefined ? {} : jsonHeaders) },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      redirect: 'manual' as const,
    };
    for (let waits = 0; ; waits += 1) {
      const response = await fetch(baseUrl + path, { ...request, signal: AbortSignal.timeout(timeoutMs) });
      const waitSeconds = Number(response.headers.get('retry-after') ?? '1');
      if (response.status !== 429 || waits >= mostWaits || waitSeconds > longestWaitSeconds) {
        return answerOf(`${method} ${path}`, response);
      }
      await response.body?.cancel();
      await new Promise((resolve) => setTimeout(resolve, waitSeconds * 1_000));
    }
  };
  return {
    send,
    get: (path, options) => send('GET', path, options),
    post: (path, body, options) => send('POST', path, { ...options, body }),
  };
}

const jsonHeaders = { 'content-type': 'application/json' };

/** Every answer is JSON with a code, a message and data, at every status. */
async function answerOf(what: string, response: Response): Promise<ApiAnswer> {
  const type = response.headers.get('content-type') ?? '';
  const text = await response.text();
  if (!type.startsWith('application/json'))
    throw new Error(`${what} answered ${response.status} as ${type || 'no type'}`);
  const body = JSON.parse(text) as Record<string, unknown>;
  const { code, message } = body;
  if (!Number.isSafeInteger(code) || typeof message !== 'string' || !('data' in body)) {
    throw new Error(`${what} answered without an envelope: ${text.slice(0, 200)}`);
  }
  const { status, headers } = response;
  return { status, headers, body, code: code as number, message, data: body['data'] };
}
