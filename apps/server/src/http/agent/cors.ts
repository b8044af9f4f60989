import type { Route } from '@florin/protocol/route.ts';
import type { FastifyInstance } from 'fastify';

/** How long a browser may cache a preflight, in seconds: Chromium's maximum. */
const preflightSeconds = '7200';

/**
 * Lets pages of any origin use the AI protocol, as any program can: it uses no key and no cookie, and a signature
 * authorizes every change.
 */
export function allowAnyPage(
  server: FastifyInstance,
  basePaths: readonly string[],
  routes: Readonly<Record<string, Route>>,
): void {
  server.addHook('onRequest', (_request, reply, done) => {
    reply.headers({
      'access-control-allow-origin': '*',
      'access-control-expose-headers': 'request-id, retry-after, deprecation, sunset',
      'cross-origin-resource-policy': 'cross-origin',
    });
    done();
  });
  const paths = basePaths.flatMap((base) => Object.values(routes).map((route) => ({ ...route, base })));
  for (const { method, path, base } of paths) {
    server.options(base + path, async (_request, reply) => {
      reply.code(204).headers({
        'access-control-allow-methods': method,
        'access-control-allow-headers': 'content-type',
        'access-control-max-age': preflightSeconds,
      });
    });
  }
}
