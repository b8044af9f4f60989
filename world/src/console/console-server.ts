import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { stripTypeScriptTypes } from 'node:module';
import { ActRefused, type ActRequest } from '../acts/act-world.ts';
import type { ActQueue } from '../acts/acts.ts';
import type { WebhookReceiver } from '../acts/webhook-receiver.ts';
import type { Mailbox } from '../mailbox.ts';
import { LOOPBACK } from '../port.ts';
import type { WorldManifest } from '../world-config.ts';
import { cookieOf, hasBearer, isFromOwnPage, isOfThisSite, isOwnBrowser, isToken } from './caller.ts';
import type { LiveReader } from './live.ts';
import { frameOfMail, mailFramePolicy, renderMailbox } from './mailbox-page.ts';
import { consolePolicy, renderConsole, renderStranger } from './page.ts';

/** The parts of the console. */
export interface ConsoleOptions {
  readonly port: number;
  /** A caller who knows it may read the world's files. */
  readonly token: string;
  readonly manifest: WorldManifest;
  readonly live: LiveReader;
  readonly acts: ActQueue;
  readonly receiver: WebhookReceiver;
  readonly mailbox: Mailbox;
}

/** The running console. */
export interface Console {
  close(): Promise<void>;
}

const BODY_LIMIT_BYTES = 4_096;
const ACT_PATH = /^\/acts\/([a-z-]{1,32})$/;
const MAIL_PATH = /^\/mailbox\/([0-9]{1,9})(\/html)?$/;
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
  const url = new URL(incoming.url ?? '/', 'http://console');
  if (incoming.method === 'POST' && url.pathname === RECEIVER_PATH) {
    options.receiver.receive(incoming, outgoing);
    return;
  }
  try {
    if (!isOfThisSite(incoming, options.port))
      throw new RequestRefused(421, 'This is not the address of the console.');
    if (incoming.method === 'POST') await serveAct(options, url, incoming, outgoing);
    else if (incoming.method === 'GET') await servePage(options, url, incoming, outgoing);
    else throw new RequestRefused(405, 'The console serves GET and POST.');
  } catch (error) {
    answerError(outgoing, error);
  }
};

const serveAct = async (
  { token, acts }: ConsoleOptions,
  { pathname }: URL,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> => {
  const act = ACT_PATH.exec(pathname)?.[1];
  if (act === undefined) throw new RequestRefused(404, 'There is nothing here.');
  if (!hasBearer(incoming, token) && !(isFromOwnPage(incoming) && isOwnBrowser(incoming, token)))
    throw new RequestRefused(401, 'Send controlToken of world.json as a bearer token.');
  answer(outgoing, 200, await acts.perform(act, await readRequest(incoming)));
};

const servePage = async (
  options: ConsoleOptions,
  { pathname, searchParams }: URL,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> => {
  const { token, manifest, live } = options;
  const file = files[pathname];
  if (file !== undefined) {
    outgoing.writeHead(200, { ...headers, 'content-type': file.type }).end(file.read());
    return;
  }
  const isOwn = isOwnBrowser(incoming, token);
  if (pathname === '/live' && isOwn) {
    answer(outgoing, 200, await live.read());
    return;
  }
  if (pathname.startsWith('/mailbox') && (isOwn || hasBearer(incoming, token))) {
    serveMailbox(options, pathname, outgoing);
    return;
  }
  if (pathname !== '/') throw new RequestRefused(isOwn ? 404 : 401, 'There is nothing here.');
  if (isToken(searchParams.get('token') ?? '', token)) {
    outgoing.writeHead(303, { ...headers, location: '/', 'set-cookie': cookieOf(token) }).end();
    return;
  }
  outgoing
    .writeHead(isOwn ? 200 : 401, { ...headers, 'content-type': 'text/html; charset=utf-8' })
    .end(isOwn ? renderConsole(manifest) : renderStranger());
};

/** The mailbox as a page or as JSON, and the HTML part of one e-mail for the page's frame. */
const serveMailbox = (
  { mailbox, manifest }: ConsoleOptions,
  pathname: string,
  outgoing: ServerResponse,
): void => {
  const mails = mailbox.mails();
  if (pathname === '/mailbox.json') {
    answer(outgoing, 200, { mails });
    return;
  }
  const [, number, part] = MAIL_PATH.exec(pathname) ?? [];
  const mail = mails.find((each) => String(each.number) === number);
  if (pathname !== '/mailbox' && mail === undefined)
    throw new RequestRefused(404, 'There is no such e-mail in the mailbox.');
  const isFrame = mail !== undefined && part === '/html';
  const policy = isFrame ? mailFramePolicy : consolePolicy;
  outgoing
    .writeHead(200, {
      ...headers,
      'content-security-policy': policy,
      'content-type': 'text/html; charset=utf-8',
    })
    .end(isFrame ? frameOfMail(mail) : renderMailbox(manifest, mails, mail));
};

const headers = {
  'cache-control': 'no-store',
  'content-security-policy': consolePolicy,
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
} as const;

const readBrowserFile = (name: string): string =>
  readFileSync(new URL(`browser/${name}`, import.meta.url), 'utf8');

const files: Readonly<Record<string, { readonly type: string; readonly read: () => string }>> = {
  '/console.css': { type: 'text/css; charset=utf-8', read: () => readBrowserFile('console.css') },
  '/console.js': {
    type: 'text/javascript; charset=utf-8',
    read: () => stripTypeScriptTypes(readBrowserFile('console.ts')),
  },
};

const answer = (outgoing: ServerResponse, status: number, body: unknown): void => {
  outgoing.writeHead(status, { ...headers, 'content-type': 'application/json' }).end(JSON.stringify(body));
};

const answerError = (outgoing: ServerResponse, error: unknown): void => {
  const message = error instanceof Error ? error.message : String(error);
  const status = error instanceof RequestRefused ? error.status : error instanceof ActRefused ? 422 : 500;
  answer(outgoing, status, { error: message });
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
