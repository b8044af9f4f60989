import { Refusal } from '@florin/protocol/error.ts';
import type { Route } from '@florin/protocol/route.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** How long a browser may cache a preflight, in seconds: Chromium's maximum. */
const preflightSeconds = 7_200;
const requestHeaders = 'authorization, content-type, idempotency-key';
const exposedHeaders =
  'request-id, retry-after, idempotent-replayed, ratelimit-policy, ratelimit-limit, ratelimit-remaining, ratelimit-reset, deprecation, sunset';

/** Lets a page of an origin that the key lists read the answer. Never `*`, and never without such a key. */
export function allowOrigin(reply: FastifyReply, webOrigin: string | undefined): void {
  if (webOrigin === undefined) return;
  reply.headers({
    'access-control-allow-origin': webOrigin,
    'access-control-expose-headers': exposedHeaders,
    vary: 'Origin',
  });
}

/** Lets every page read public routes that need no key. */
export function allowEveryOrigin(reply: FastifyReply): void {
  reply.headers({ 'access-control-allow-origin': '*', 'access-control-expose-headers': exposedHeaders });
}

export interface PreflightOptions {
  readonly basePath: string;
  readonly routes: readonly Route[];
  /** Counts the request towards its client's limit; refuses with 900101. */
  readonly limit: (request: FastifyRequest, reply: FastifyReply) => void;
  /** Whether any valid key lists the origin. */
  readonly isOriginListed: (origin: string) => Promise<boolean>;
}

/**
 * Answers a browser's preflight. It carries no key, so the answer allows every origin that some valid key lists. The
 * request itself is then decided by its own key.
 */
export function addPreflightRoutes(server: FastifyInstance, options: PreflightOptions): void {
  for (const [path, routes] of Map.groupBy(options.routes, (route) => route.path)) {
    const methods = routes.map((route) => route.method).join(', ');
    server.route({
      method: 'OPTIONS',
      url: options.basePath + path,
      config: { effect: 'query', query: 'any' },
      onRequest: async (request, reply) => {
        reply.header('allow', `${methods}, OPTIONS`);
        if (!isPreflight(request)) throw new Refusal('method_not_allowed', `OPTIONS; allowed: ${methods}`);
        options.limit(request, reply);
      },
      handler: async (request, reply) => {
        reply.header('vary', 'Origin');
        const { origin } = request.headers;
        if (origin !== undefined && (await options.isOriginListed(origin))) {
          reply.headers({
            'access-control-allow-origin': origin,
            'access-control-allow-methods': methods,
            'access-control-allow-headers': requestHeaders,
            'access-control-max-age': String(preflightSeconds),
          });
        }
        return reply.code(204).send();
      },
    });
  }
}

function isPreflight({ headers }: FastifyRequest): boolean {
  return headers.origin !== undefined && headers['access-control-request-method'] !== undefined;
}
