import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { makeCertificate, type TestCertificate } from './certificate.ts';

/** One request as received. */
export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The exact bytes, as text. */
  readonly body: string;
  readonly at: Date;
}

/** The answer of a receiver. `then` is its answer to each later request. */
export type Behaviour =
  | { readonly kind: 'answer'; readonly status: number; readonly body?: string; readonly retryAfter?: string }
  | { readonly kind: 'slow'; readonly delayMs: number; readonly status?: number }
  | { readonly kind: 'hang' }
  | { readonly kind: 'redirect'; readonly location: string; readonly status?: number }
  | { readonly kind: 'gzip bomb' }
  | { readonly kind: 'endless body' }
  | { readonly kind: 'dripping body' }
  | { readonly kind: 'reset' }
  | { readonly kind: 'garbage' };

/** An HTTPS webhook receiver on loopback that records its requests and misbehaves on command. */
export interface Receiver {
  readonly url: string;
  readonly port: number;
  readonly requests: readonly ReceivedRequest[];
  /** The certificate that a client must trust to reach it. */
  readonly ca: string;
  /** Connections accepted so far; as many as requests means no keep-alive. */
  connectionCount(): number;
  /** Sets the behaviour from now on; a function decides per request. 204 at first. */
  behave(behaviour: Behaviour | ((request: ReceivedRequest) => Behaviour)): void;
  /** Resolves once this many requests have come; rejects after the time-out. */
  waitFor(count: number, timeoutMs?: number): Promise<readonly ReceivedRequest[]>;
  close(): Promise<void>;
}

const megabyte = 1024 * 1024;

/** Starts a receiver on a free port of 127.0.0.1 or on the given one, with a new certificate unless one is given. */
export async function startReceiver(
  options: { readonly certificate?: TestCertificate; readonly port?: number } = {},
): Promise<Receiver> {
  const certificate = options.certificate ?? makeCertificate({ now: new Date() });
  const requests: ReceivedRequest[] = [];
  const waiting = new Set<() => void>();
  const sockets = new Set<Duplex>();
  let connections = 0;
  let decide: (request: ReceivedRequest) => Behaviour = () => ({ kind: 'answer', status: 204 });

  const server = createServer(
    { cert: certificate.cert, key: certificate.key },
    async (incoming, response) => {
      const request = await receive(incoming);
      requests.push(request);
      for (const check of waiting) check();
      misbehave(decide(request), incoming, response);
    },
  );
  server.on('connection', (socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
  });
  // Some tests have a client that refuses the certificate or disconnects.
  server.on('tlsClientError', (_error, socket) => socket.destroy());
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;

  return {
    url: `https://127.0.0.1:${port}/hook`,
    port,
    requests,
    ca: certificate.ca,
    connectionCount: () => connections,
    behave(behaviour) {
      decide = typeof behaviour === 'function' ? behaviour : () => behaviour;
    },
    waitFor(count, timeoutMs = 60_000) {
      const { promise, resolve, reject } = Promise.withResolvers<readonly ReceivedRequest[]>();
      const late = () => reject(new Error(`${requests.length} of ${count} requests came in ${timeoutMs} ms`));
      const timer = setTimeout(late, timeoutMs);
      const check = () => {
        if (requests.length >= count) resolve(requests);
      };
      waiting.add(check);
      check();
      return promise.finally(() => {
        clearTimeout(timer);
        waiting.delete(check);
      });
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function receive(incoming: IncomingMessage): Promise<ReceivedRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return {
    method: incoming.method ?? '',
    path: incoming.url ?? '',
    headers: incoming.headers,
    body: Buffer.concat(chunks).toString('utf8'),
    at: new Date(),
  };
}

function misbehave(behaviour: Behaviour, incoming: IncomingMessage, response: ServerResponse): void {
  response.on('error', () => response.destroy());
  switch (behaviour.kind) {
    case 'answer': {
      if (behaviour.retryAfter !== undefined) response.setHeader('retry-after', behaviour.retryAfter);
      response.writeHead(behaviour.status).end(behaviour.body ?? '');
      return;
    }
    case 'slow':
      setTimeout(() => response.writeHead(behaviour.status ?? 200).end('slow'), behaviour.delayMs).unref();
      return;
    case 'hang':
      return;
    case 'redirect':
      response.writeHead(behaviour.status ?? 307, { location: behaviour.location }).end();
      return;
    case 'gzip bomb':
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(64 * megabyte)));
      return;
    case 'endless body':
      response.writeHead(200);
      pour(response);
      return;
    case 'dripping body':
      response.writeHead(200).write('.');
      return;
    case 'reset':
      incoming.socket.destroy();
      return;
    case 'garbage':
      incoming.socket.end('this is not HTTP\r\n\r\n');
  }
}

/** Writes for as long as the client reads. */
function pour(response: ServerResponse): void {
  const chunk = Buffer.alloc(16 * 1024, 'x');
  const more = () => {
    if (response.destroyed) return;
    if (response.write(chunk)) setImmediate(more);
    else response.once('drain', more);
  };
  more();
}
