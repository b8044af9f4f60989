import { hash } from 'node:crypto';
import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import pg from 'pg';

/** What the bench tells a limit through its environment. */
export interface LimitSettings {
  readonly port: number;
  readonly databaseUrl: string;
  readonly apiKey: string;
}

function setting(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === '') throw new Error(`${name} is not set`);
  return value;
}

/** Reads `LIMIT_PORT`, `LIMIT_API_KEY` and, where a limit stores something, `LIMIT_DATABASE_URL`. */
export function readSettings(): LimitSettings {
  return {
    port: Number(setting('LIMIT_PORT')),
    databaseUrl: process.env['LIMIT_DATABASE_URL'] ?? '',
    apiKey: setting('LIMIT_API_KEY'),
  };
}

/** A bare fastify with ajv. Answers are plain JSON.stringify, which is faster here than a compiled serializer. */
export function bareServer(): FastifyInstance {
  return fastify({ logger: false });
}

/** A hook that takes requests with the one known API key, found by its SHA-256 in memory. */
export function keyCheck(apiKey: string): (request: FastifyRequest) => Promise<void> {
  const known = new Map([[hash('sha256', apiKey, 'base64'), 'mer_0000000000000000000001']]);
  return async (request) => {
    const key = request.headers.authorization?.slice('Bearer '.length) ?? '';
    if (!known.has(hash('sha256', key, 'base64'))) {
      throw Object.assign(new Error('unknown API key'), { statusCode: 401 });
    }
  };
}

/** The header that makes a retry safe. */
export function idempotencyKeyOf(request: FastifyRequest): string | undefined {
  const header = request.headers['idempotency-key'];
  return typeof header === 'string' ? header : undefined;
}

/** Listens until the bench goes away, however it goes. */
export async function listen(server: FastifyInstance, port: number): Promise<void> {
  process.once('disconnect', () => process.exit(0));
  await server.listen({ host: '127.0.0.1', port });
  process.send?.('ready');
}

/** A connection of a limit; each has its own, because a pool costs a little. */
export async function connect(databaseUrl: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: databaseUrl, application_name: 'florin-limit' });
  await client.connect();
  return client;
}
