import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Florin, type FlorinOptions } from './florin.ts';
import { realOutside } from './outside.ts';

/** A request as it came to the service. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}

/** Answers one request. */
export type Answer = (response: ServerResponse, request: SeenRequest) => void;

/** A service of node:http that answers from a list, its last answer again and again. */
export interface TestService extends AsyncDisposable {
  readonly seen: SeenRequest[];
  /** Waits before retries, in milliseconds; none is waited for. */
  readonly waits: number[];
  readonly baseUrl: string;
  readonly florin: Florin;
  client(options?: Partial<FlorinOptions>): Florin;
}

export function success(data: unknown): Answer {
  return (response) => response.end(JSON.stringify({ code: 0, message: 'success', data }));
}

export function failure(
  status: number,
  code: number,
  slug: string,
  { retryable = false, headers = {} }: { retryable?: boolean; headers?: Record<string, string> } = {},
): Answer {
  return (response) => {
    const docUrl = `https://pay.example.com/docs/errors/${code}`;
    const error = { slug, param: 'lineItems[0]', retryable, remedy: 'Do it.', docUrl, requestId: 'req_1' };
    response.writeHead(status, { 'request-id': 'req_1', ...headers });
    response.end(JSON.stringify({ code, message: 'Text: detail', data: null, error }));
  };
}

/** The connection ends without an answer. */
export const hangUp: Answer = (response) => response.destroy();

export async function openTestService(...answers: readonly Answer[]): Promise<TestService> {
  const seen: SeenRequest[] = [];
  const waits: number[] = [];
  const server = createServer(async (request, response) => {
    const { method = '', url: path = '', headers } = request;
    const body = await text(request);
    const one = { method, path, headers, body: body === '' ? undefined : JSON.parse(body) };
    const answer = answers[Math.min(seen.push(one), answers.length) - 1];
    if (answer === undefined) throw new Error('no answer was prepared');
    answer(response, one);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  let made = 0;
  const outside = {
    ...realOutside,
    random: () => 0.5,
    randomUuid: () => `made-${++made}`,
    pause: async (ms: number) => void waits.push(ms),
  };
  const client = (options?: Partial<FlorinOptions>) =>
    new Florin('sk_live_test', { baseUrl, ...options }, outside);
  return {
    seen,
    waits,
    baseUrl,
    client,
    florin: client(),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
