import { refuseUnknown } from './argument.ts';
import { FlorinError, wrongArgument } from './error.ts';
import {
  checkSecret,
  checkTolerance,
  type UnwrapOptions,
  unwrap,
  type WebhookHeaders,
  type WebhookSecret,
} from './signature.ts';
import type { FlorinEvent } from './wire.gen.ts';

/** Receivers of webhooks, for servers that need no API key. */

export { FlorinError } from './error.ts';
export type { UnwrapOptions, WebhookHeaders, WebhookSecret } from './signature.ts';
export { unwrap } from './signature.ts';
export type * from './wire.gen.ts';

/** What is done with an event. Once it resolves, the service counts the event as received; else it sends it again later. */
export type OnEvent = (event: FlorinEvent) => unknown;

export interface ReceiverOptions extends UnwrapOptions {
  /**
   * The webhook's key, or the keys while one is being replaced. A missing one is refused at once; a function reads it when an
   * event comes, for builds that run without it.
   */
  readonly secret:
    | WebhookSecret
    | undefined
    | (() => WebhookSecret | undefined | Promise<WebhookSecret | undefined>);
  /**
   * Whether examples of `POST /webhook/test` are handed on, whose `fixture` is true. Without it they are answered and left
   * out, because nothing has happened.
   */
  readonly takesFixtures?: boolean | undefined;
}

/** The answer to one notification: 204 when it was handled, 400 when it is not from the service. */
type Verdict = { readonly status: 204 } | { readonly status: 400; readonly reason: string };

/** Bytes of a notification; the service sends at most 64 KiB. */
const maxBodyBytes = 1024 * 1024;

const optionNames = [
  'secret',
  'takesFixtures',
  'toleranceSeconds',
  'now',
] as const satisfies readonly (keyof ReceiverOptions)[];

/** Refuses at the start what would fail at the first event. */
function checkReceiver(options: ReceiverOptions, onEvent: OnEvent): void {
  refuseUnknown(options, optionNames);
  const { secret, toleranceSeconds }: Partial<ReceiverOptions> = Object(options);
  checkTolerance(toleranceSeconds);
  if (typeof secret !== 'function') checkSecret(secret);
  // Programs in JavaScript may leave it out.
  if (typeof onEvent !== 'function') throw wrongArgument('onEvent', 'give a function that handles an event');
}

async function receive(
  { secret, takesFixtures = false, ...options }: ReceiverOptions,
  onEvent: OnEvent,
  readBody: () => Promise<string | Uint8Array | ArrayBuffer>,
  headers: WebhookHeaders,
): Promise<Verdict> {
  const present = typeof secret === 'function' ? await secret() : secret;
  let event: FlorinEvent;
  try {
    event = await unwrap(await readBody(), headers, present, options);
  } catch (error) {
    // A wrong option of our own is no fault of the sender, who shall try again later.
    if (error instanceof FlorinError && error.slug !== 'argument_invalid')
      return { status: 400, reason: error.slug };
    throw error;
  }
  if (event.fixture !== true || takesFixtures) await onEvent(event);
  return { status: 204 };
}

/**
 * A handler of web requests: Next.js route handlers, Workers, Deno and Bun. Next.js loads its routes also while it builds.
 *
 * @example export const POST = webhookHandler({ secret: () => process.env.FLORIN_WEBHOOK_KEY }, async (event) => { … });
 */
export function webhookHandler(
  options: ReceiverOptions,
  onEvent: OnEvent,
): (request: Request) => Promise<Response> {
  checkReceiver(options, onEvent);
  return async (request) => {
    const readBody = () => readWhole(() => request.arrayBuffer());
    return responseOf(await receive(options, onEvent, readBody, request.headers));
  };
}

/** The part of Hono's context that the handler uses. */
interface HonoContext {
  readonly req: { readonly raw: { readonly headers: Headers }; arrayBuffer(): Promise<ArrayBuffer> };
}

/**
 * A handler for Hono. Take the secret from the context where the runtime has it there.
 *
 * @example app.post('/webhooks/florin', honoWebhook({ secret }, async (event) => { … }));
 */
export function honoWebhook(
  options: ReceiverOptions,
  onEvent: OnEvent,
): (context: HonoContext) => Promise<Response> {
  checkReceiver(options, onEvent);
  return async ({ req }) => {
    const readBody = () => readWhole(() => req.arrayBuffer());
    return responseOf(await receive(options, onEvent, readBody, req.raw.headers));
  };
}

function responseOf(verdict: Verdict): Response {
  return verdict.status === 204
    ? new Response(null, { status: 204 })
    : new Response(`${verdict.reason}\n`, { status: 400 });
}

/** The parts of Node's request and answer that the handler uses; Express has them too. */
interface NodeRequest extends AsyncIterable<unknown> {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body?: unknown;
}
interface NodeAnswer {
  statusCode: number;
  end(text?: string): unknown;
}

/**
 * A handler for Express and for servers of node:http. Mount it before `express.json()`, which would take the body away, or
 * behind `express.raw({ type: 'application/json' })`.
 *
 * @example app.post('/webhooks/florin', expressWebhook({ secret }, async (event) => { … }));
 */
export function expressWebhook(
  options: ReceiverOptions,
  onEvent: OnEvent,
): (request: NodeRequest, answer: NodeAnswer, next?: (error: unknown) => void) => Promise<void> {
  checkReceiver(options, onEvent);
  return async (request, answer, next) => {
    try {
      const verdict = await receive(options, onEvent, () => bodyOf(request), request.headers);
      answer.statusCode = verdict.status;
      answer.end(verdict.status === 204 ? undefined : `${verdict.reason}\n`);
    } catch (error) {
      if (next !== undefined) {
        next(error);
        return;
      }
      answer.statusCode = 500;
      answer.end();
      throw error;
    }
  };
}

/** A sender that goes away in the middle of its request must not end this process. */
async function readWhole<Body>(read: () => Promise<Body>): Promise<Body> {
  try {
    return await read();
  } catch (cause) {
    throw new FlorinError('webhook_malformed', 'the request ended within its body', { cause });
  }
}

async function bodyOf(request: NodeRequest): Promise<string | Uint8Array> {
  const { body } = request;
  if (typeof body === 'string' || body instanceof Uint8Array) return body;
  if (body !== undefined)
    throw new FlorinError(
      'argument_invalid',
      'the body is parsed already: mount the webhook before express.json()',
    );
  const chunks: unknown[] = await readWhole(() => limitedChunks(request));
  return new Uint8Array(await new Blob(chunks.filter(isBytes)).arrayBuffer());
}

async function limitedChunks(request: NodeRequest): Promise<unknown[]> {
  const chunks: unknown[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += isBytes(chunk) ? chunk.length : 0;
    if (size > maxBodyBytes) throw new RangeError(`a body of more than ${maxBodyBytes} bytes`);
    chunks.push(chunk);
  }
  return chunks;
}

function isBytes(value: unknown): value is Uint8Array<ArrayBuffer> {
  return value instanceof Uint8Array;
}

/** A Fastify instance, whose own types are too wide to repeat here. */
interface FastifyScope {
  removeContentTypeParser(type: string): void;
  addContentTypeParser(...parts: never): unknown;
  post(...parts: never): unknown;
}
/** The parts of it that the plugin uses. */
interface FastifyPart {
  addContentTypeParser(
    type: string,
    options: { parseAs: 'buffer' },
    parser: (request: unknown, body: unknown, done: (error: null, body: unknown) => void) => void,
  ): unknown;
  post(
    path: string,
    handler: (request: FastifyRequestPart, reply: FastifyReplyPart) => Promise<unknown>,
  ): unknown;
}
interface FastifyRequestPart {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: unknown;
}
interface FastifyReplyPart {
  code(status: number): { send(body?: string): unknown };
}

/**
 * A plugin for Fastify that receives at one path. Only there it keeps the body as it came; the rest of the application goes on
 * to get parsed ones.
 *
 * @example app.register(fastifyWebhook('/webhooks/florin', { secret }, async (event) => { … }));
 */
export function fastifyWebhook(
  path: string,
  options: ReceiverOptions,
  onEvent: OnEvent,
): (scope: FastifyScope) => Promise<void> {
  checkReceiver(options, onEvent);
  return async (scope) => {
    const server = scope as unknown as FastifyPart;
    scope.removeContentTypeParser('application/json');
    server.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) =>
      done(null, body),
    );
    server.post(path, async (request, reply) => {
      const body = isBytes(request.body) ? request.body : '';
      const verdict = await receive(options, onEvent, async () => body, request.headers);
      return reply.code(verdict.status).send(verdict.status === 204 ? undefined : `${verdict.reason}\n`);
    });
  };
}
