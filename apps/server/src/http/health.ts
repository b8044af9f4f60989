import type { FastifyInstance } from 'fastify';

/** Whether the service can accept work, with the state of each dependency. */
export interface Readiness {
  readonly ready: boolean;
  /** By name, such as `database`: `ok` or the problem, without secrets. */
  readonly checks: Readonly<Record<string, string>>;
}

/** GET /health/live: the process answers. GET /health/ready: 200 when it can accept work, else 503. */
export function addHealthRoutes(server: FastifyInstance, ready: () => Promise<Readiness>): void {
  server.get('/health/live', async () => ({ status: 'ok' }));
  server.get('/health/ready', async (_request, reply) => {
    const state = await ready();
    reply.code(state.ready ? 200 : 503);
    return { status: state.ready ? 'ready' : 'not_ready', checks: state.checks };
  });
}
