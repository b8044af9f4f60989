// Limit L1s: each request stores its session and its idempotency row with one statement in one round trip.
import { hash } from 'node:crypto';
import pg from 'pg';
import { bareServer, idempotencyKeyOf, keyCheck, listen, readSettings } from './limit-server.ts';
import {
  initialState,
  insertedColumns,
  newIdempotencyKey,
  newSessionRow,
  type SessionBody,
  sessionBodySchema,
  sessionOf,
  valuesOf,
} from './session-row.ts';

const { port, apiKey, databaseUrl } = readSettings();
const pool = new pg.Pool({ connectionString: databaseUrl, max: 10, application_name: 'florin-limit' });
const names = insertedColumns.map(([name]) => name).join(', ');
const parameters = insertedColumns.map(([, type], index) => `$${index + 1}::${type}`).join(', ');
const last = insertedColumns.length;
const text = `
with claim as (
  insert into idempotency (merchant_id, idempotency_key, body_hash, session_id, created_at)
  values ($2, $${last + 1}, $${last + 2}, $1, $${last}) on conflict do nothing
  returning session_id
), stored as (
  insert into sessions (${names}) select ${parameters} from claim
)
select session_id from claim`;

const server = bareServer();
server.addHook('onRequest', keyCheck(apiKey));
server.post<{ Body: SessionBody }>(
  '/session/checkout/create',
  { schema: { body: sessionBodySchema } },
  async (request) => {
    const row = newSessionRow(request.body);
    const key = idempotencyKeyOf(request) ?? newIdempotencyKey();
    const bodyHash = hash('sha256', JSON.stringify(request.body), 'buffer');
    const { rows } = await pool.query({
      name: 'insert',
      text,
      values: [...valuesOf(row), key, bodyHash],
    });
    if (rows.length === 0) return { code: 400_402, message: 'idempotency key used', data: null };
    return { code: 0, message: 'success', data: sessionOf(row, initialState) };
  },
);
await listen(server, port);
