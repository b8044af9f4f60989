import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Log } from '#telemetry/log.ts';

/** Routes that a load balancer asks every few seconds. */
export const probes: ReadonlySet<string | undefined> = new Set(['/health/live', '/health/ready']);

/**
 * Writes one line per answered request, with the route's pattern and never the path: ids stay out of the log. Probes of
 * health have no line. With a share below 1 only every so many requests have one; failures of the service always do.
 */
export function requestLogger({
  log,
  requestLogShare: share = 1,
}: {
  readonly log: Log;
  readonly requestLogShare?: number | undefined;
}): (request: FastifyRequest, reply: FastifyReply) => void {
  let due = 0;
  return (request, reply) => {
    const { url } = request.routeOptions;
    if (probes.has(url)) return;
    due += share;
    if (due < 1 && reply.statusCode < 500) return;
    if (due >= 1) due -= 1;
    log.info('http_request', {
      requestId: request.id,
      method: request.method,
      route: url ?? '',
      status: reply.statusCode,
      durationMs: Math.round(reply.elapsedTime * 10) / 10,
      ...(request.trace === undefined ? {} : { traceId: request.trace.traceId }),
    });
  };
}
