import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { makeCertificate } from './certificate.ts';

/** A source's answer for one path. */
export type SourceAnswer = (response: ServerResponse, headers: IncomingHttpHeaders) => void;

/** An HTTPS server on loopback with images, under a separate certificate authority. */
export interface ImageSource {
  /** `https://localhost:<port>`. */
  readonly origin: string;
  readonly ca: string;
  /** Requested paths, in order. */
  readonly asked: readonly string[];
  /** Accepted connections, including failed ones. */
  connectionCount(): number;
  /** Sets the answer for a path: an image with status 200, or a function. Other paths are 404. */
  serve(path: string, answer: Uint8Array | SourceAnswer): void;
  close(): Promise<void>;
}

/** Starts a source on a free port of 127.0.0.1. */
export async function startImageSource(): Promise<ImageSource> {
  const certificate = makeCertificate({ now: new Date() });
  const answers = new Map<string, Uint8Array | SourceAnswer>();
  const asked: string[] = [];
  const sockets = new Set<Duplex>();
  let connections = 0;
  const server = createServer({ cert: certificate.cert, key: certificate.key }, (request, response) => {
    const path = request.url ?? '';
    asked.push(path);
    response.on('error', () => response.destroy());
    const answer = answers.get(path);
    if (answer === undefined) response.writeHead(404).end('no such image');
    else if (typeof answer === 'function') answer(response, request.headers);
    else response.writeHead(200, { 'content-type': 'image/png' }).end(answer);
  });
  server.on('connection', (socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
  });
  server.on('tlsClientError', (_error, socket) => socket.destroy());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `https://localhost:${(server.address() as AddressInfo).port}`,
    ca: certificate.ca,
    asked,
    connectionCount: () => connections,
    serve: (path, answer) => answers.set(path, answer),
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
