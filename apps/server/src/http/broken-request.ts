import type { Socket } from 'node:net';
import { type ErrorName, errorCatalogue } from '@florin/protocol/error.ts';
import { failureBody } from './envelope.ts';

const answers: Record<string, { status: string; slug: ErrorName; message: string }> = {
  HPE_HEADER_OVERFLOW: {
    status: '431 Request Header Fields Too Large',
    slug: 'field_invalid',
    message: 'The address and headers are too large',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: '408 Request Timeout',
    slug: 'json_malformed',
    message: 'The request did not arrive in time',
  },
};

const unreadable = {
  status: '400 Bad Request',
  slug: 'json_malformed',
  message: 'Not an HTTP request',
} as const;

/** Answers bytes that are not an HTTP request with the envelope of every failure, and closes the connection. */
export function answerBrokenRequest(
  error: Error & { code?: string },
  socket: Socket,
  requestId: string,
  docsUrl: string,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const { status, slug, message } = answers[error.code ?? ''] ?? unreadable;
  const body = failureBody(
    { slug, entry: errorCatalogue[slug], message, param: '', data: null, retryAfterSeconds: undefined },
    { requestId, docsUrl },
  );
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\nRequest-Id: ${requestId}\r\n` +
      `Cache-Control: no-store\r\nConnection: close\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}
