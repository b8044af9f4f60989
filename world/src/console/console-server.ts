import { timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { ActRefused, type ActRequest } from '../acts/act-world.ts';
import type { ActQueue } from '../acts/acts.ts';
import type { WebhookReceiver } from '../acts/webhook-receiver.ts';
import { LOOPBACK } from '../port.ts';

/** The parts of the console. */
export interface ConsoleOptions {
  readonly port: number;
  /** Whoever knows it may read the world's files. */
  readonly token: string;
  readonly acts: ActQueue;
  readonly receiver: WebhookReceiver;
}

/** The running console. */
export interface Console {
  close(): Promise<void>;
}

const BODY_LIMIT_BYTES = 4_096;
const ACT_PATH = /^\/acts\/([a-z-]{1,32})$/;
/** The path at which the webhook of the acts is received. */
export const RECEIVER_PATH = '/receiver';

/** A request that the console does not serve. */
class RequestRefused extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Starts the console on its loopback port. */
export const startConsole = (options: ConsoleOptions): Promise<Console> =>
  new Promise((resolve, reject) => {
    const server = createServer((incoming, outgoing) => void serve(options, incoming, outgoing));
    server.once('error', reject);
    server.listen({ port: options.port, host: LOOPBACK }, () =>
      resolve({ close: () => closeServer(server) }),
    );
  });

const closeServer = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });

const serve = async (
  options: ConsoleOptions,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> => {
  const { pathname } = new URL(incoming.url ?? '/', 'http://console');
  if (incoming.method === 'POST' && pathname === RECEIVER_PATH) {
    options.receiver.receive(incoming, outgoing);
    return;
  }
  try {
    const act = ACT_PATH.exec(pathname)?.[1];
    if (incoming.method !== 'POST' || act === undefined)
      throw new RequestRefused(404, 'There is nothing here.');
    if (!hasToken(incoming, options.token))
      throw new RequestRefused(401, 'Send controlToken of world.json as a bearer token.');
    answer(outgoing, 200, await options.acts.perform(act, await readRequest(incoming)));
  } catch (error) {
    answerError(outgoing, error);
  }
};

const answer = (outgoing: ServerResponse, status: number, body: unknown): void => {
  outgoing
    .writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
    .end(JSON.stringify(body));
};

const answerError = (outgoing: ServerResponse, error: unknown): void => {
  const message = error instanceof Error ? error.message : String(error);
  const status = error instanceof RequestRefused ? error.status : error instanceof ActRefused ? 422 : 500;
  answer(outgoing, status, { error: message });
};

const hasToken = ({ headers }: IncomingMessage, token: string): boolean => {
  const given = Buffer.from(headers.authorization ?? '');
  const wanted = Buffer.from(`Bearer ${token}`);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
};

const readRequest = async (incoming: IncomingMessage): Promise<ActRequest> => {
  let text = '';
  for await (const part of incoming.setEncoding('utf8') as AsyncIterable<string>) {
    text += part;
    if (text.length > BODY_LIMIT_BYTES) throw new RequestRefused(413, 'The body is too large.');
  }
  let body: unknown;
  try {
    body = JSON.parse(text === '' ? '{}' : text);
  } catch {
    throw new RequestRefused(400, 'The body is not JSON.');
  }
  return requestIn(body);
};

const requestIn = (body: unknown): ActRequest => {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new RequestRefused(400, 'The body is a JSON object.');
  const request: Record<string, string | boolean> = {};
  for (const [name, value] of Object.entries(body)) {
    const isText = ['argument', 'chain', 'token'].includes(name) && typeof value === 'string';
    const isFlag = name === 'undo' && typeof value === 'boolean';
    if (!isText && !isFlag)
      throw new RequestRefused(
        400,
        `${name} is not understood: send argument, chain and token as text, and undo.`,
      );
    request[name] = value;
  }
  return request;
};
