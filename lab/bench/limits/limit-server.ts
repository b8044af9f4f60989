import { hash } from 'node:crypto';
import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import pg from 'pg';

/** The settings that a limit receives through its environment. */
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

/** Reads `LIMIT_PORT`, `LIMIT_API_KEY` and, for limits with a database, `LIMIT_DATABASE_URL`. */
export function readSettings(): LimitSettings {
  return {
    port: Number(setting('LIMIT_PORT')),
    databaseUrl: process.env['LIMIT_DATABASE_URL'] ?? '',
    apiKey: setting('LIMIT_API_KEY'),
  };
}

/** A bare fastify with ajv. Answers use JSON.stringify, which is faster here than a compiled serializer. */
export function bareServer(): FastifyInstance {
  return fastify({ logger: false });
}

/** A hook that accepts the one known API key. It compares the SHA-256 in memory. */
export function keyCheck(apiKey: string): (request: FastifyRequest) => Promise<void> {
  const known = new Map([[hash('sha256', apiKey, 'base64'), 'mer_0000000000000000000001']]);
  return async (request) => {
    const key = request.headers.authorization?.slice('Bearer '.length) ?? '';
    if (!known.has(hash('sha256', key, 'base64'))) {
      throw Object.assign(new Error('unknown API key'), { statusCode: 401 });
    }
  };
}

/** The header that makes retries safe. */
export function idempotencyKeyOf(request: FastifyRequest): string | undefined {
  const header = request.headers['idempotency-key'];
  return typeof header === 'string' ? header : undefined;
}

/** Listens until the bench ends, for any reason. */
export async function listen(server: FastifyInstance, port: number): Promise<void> {
  process.once('disconnect', () => process.exit(0));
  await server.listen({ host: '127.0.0.1', port });
  process.send?.('ready');
}

/** A database connection of a limit. Each limit has one, because a pool has a cost. */
export async function connect(databaseUrl: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: databaseUrl, application_name: 'florin-limit' });
  await client.connect();
  return client;
}
