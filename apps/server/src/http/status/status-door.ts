import { batched } from '@florin/pg';
import type { BooksStatus } from '#reconcile/status.ts';
import { jsonType } from '../route-handler.ts';
import type { Door } from '../server.ts';
import { renderMetrics } from './metrics.ts';
import { renderStatusPage, statusPagePolicy } from './status-page.ts';

/** A monitor reads the status alone, and the wire contract says nothing of these paths. */
const statuses = { query_failed: 503 } as const;
/** Concurrent requests share one read. */
const limits = { maxSize: 1_000, maxInFlight: 1, maxWaiting: 10_000 };

/**
 * The public status: whether the books agree with the chains. GET /status is a page for browsers and JSON for other
 * clients; GET /status/metrics is the same for Prometheus (text format 0.0.4). Both are 503 while the database does not
 * answer.
 */
export function statusDoor(options: { readonly readStatus: () => Promise<BooksStatus> }): Door {
  const read = batched(async (asked: readonly undefined[]) => {
    const status = await options.readStatus();
    return asked.map(() => status);
  }, limits);
  return (server) => {
    server.get('/status', { config: { query: 'any', statuses } }, async (request, reply) => {
      const status = await read(undefined);
      reply.header('vary', 'accept');
      if (request.headers.accept?.includes('text/html') === true) {
        reply.type('text/html; charset=utf-8').header('content-security-policy', statusPagePolicy);
        return renderStatusPage(status);
      }
      reply.type(jsonType).headers({
        'access-control-allow-origin': '*',
        'cross-origin-resource-policy': 'cross-origin',
      });
      return JSON.stringify(status);
    });
    server.get('/status/metrics', { config: { statuses } }, async (_request, reply) => {
      reply.type('text/plain; version=0.0.4; charset=utf-8');
      return renderMetrics(await read(undefined));
    });
  };
}
