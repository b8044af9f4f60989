import type { FastifyInstance } from 'fastify';
import type { RequestTrace, Traces } from '#telemetry/traces.ts';
import { probes } from './request-log.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Undefined without traces, and for probes of health. */
    trace: RequestTrace | undefined;
  }
}

/**
 * Opens the trace of each request before any other hook, so that looking up its key belongs to it. Names and attributes are the
 * route's pattern, method, status and code: nothing that a caller writes.
 */
export function traceRequests(server: FastifyInstance, traces: Traces): void {
  server.addHook('onRequest', (request, _reply, done) => {
    if (probes.has(request.routeOptions.url)) return done();
    const { traceparent } = request.headers;
    request.trace = traces.request(typeof traceparent === 'string' ? traceparent : undefined);
    request.trace.enter(done);
  });
  // The body comes by events of the socket, which belong to no request.
  server.addHook('preValidation', ({ trace }, _reply, done) =>
    trace === undefined ? done() : trace.enter(done),
  );
  server.addHook('onResponse', ({ trace, method, failureCode, routeOptions }, { statusCode }, done) => {
    const route = routeOptions.url ?? '';
    trace?.end({
      name: `${method} ${route}`.trim(),
      isFailed: statusCode >= 500,
      attributes: {
        'http.request.method': method,
        'http.route': route,
        'http.response.status_code': statusCode,
        'florin.code': failureCode,
      },
    });
    done();
  });
}
