// Limit L1: while two statements are in progress, requests gather for the next statement (group commit).
import { hash } from 'node:crypto';
import type pg from 'pg';
import { bareServer, connect, idempotencyKeyOf, keyCheck, listen, readSettings } from './limit-server.ts';
import {
  initialState,
  insertedColumns,
  type NewSessionRow,
  newIdempotencyKey,
  newSessionRow,
  type SessionBody,
  sessionBodySchema,
  sessionOf,
  valuesOf,
} from './session-row.ts';

interface Pending {
  readonly row: NewSessionRow;
  readonly key: string;
  readonly bodyHash: Buffer;
  readonly resolve: (isStored: boolean) => void;
  readonly reject: (error: unknown) => void;
}

const batchLimit = 64;
const connectionCount = 2;
const names = insertedColumns.map(([name]) => name).join(', ');
const arrays = insertedColumns.map(([, type], index) => `$${index + 1}::${type}[]`).join(', ');
const last = insertedColumns.length;
const text = `
with draft as (
  select * from unnest(${arrays}, $${last + 1}::text[], $${last + 2}::bytea[])
    as d (${names}, idempotency_key, body_hash)
), claim as (
  insert into idempotency (merchant_id, idempotency_key, body_hash, session_id, created_at)
  select merchant_id, idempotency_key, body_hash, session_id, created_at from draft on conflict do nothing
  returning session_id
), stored as (
  insert into sessions (${names}) select ${names} from draft join claim using (session_id)
)
select session_id from claim`;

const { port, apiKey, databaseUrl } = readSettings();
const idle = await Promise.all(Array.from({ length: connectionCount }, () => connect(databaseUrl)));
let waiting: Pending[] = [];
let isScheduled = false;

async function store(client: pg.Client, batch: readonly Pending[]): Promise<void> {
  const rows = batch.map(({ row }) => valuesOf(row));
  const values: unknown[] = insertedColumns.map((_, column) => rows.map((row) => row[column]));
  values.push(
    batch.map(({ key }) => key),
    batch.map(({ bodyHash }) => bodyHash),
  );
  try {
    const { rows: stored } = await client.query<{ session_id: string }>({ name: 'insert', text, values });
    const ids = new Set(stored.map(({ session_id }) => session_id));
    for (const { row, resolve } of batch) resolve(ids.has(row.session_id));
  } catch (error) {
    for (const { reject } of batch) reject(error);
  } finally {
    idle.push(client);
    schedule();
  }
}

function flush(): void {
  isScheduled = false;
  while (waiting.length > 0) {
    const client = idle.pop();
    if (client === undefined) return;
    const batch = waiting.slice(0, batchLimit);
    waiting = waiting.slice(batchLimit);
    void store(client, batch);
  }
}

function schedule(): void {
  if (isScheduled || waiting.length === 0 || idle.length === 0) return;
  isScheduled = true;
  // After the other requests of this turn of the event loop.
  setImmediate(flush);
}

const server = bareServer();
server.addHook('onRequest', keyCheck(apiKey));
server.post<{ Body: SessionBody }>(
  '/session/checkout/create',
  { schema: { body: sessionBodySchema } },
  async (request) => {
    const row = newSessionRow(request.body);
    const key = idempotencyKeyOf(request) ?? newIdempotencyKey();
    const bodyHash = hash('sha256', JSON.stringify(request.body), 'buffer');
    const isStored = await new Promise<boolean>((resolve, reject) => {
      waiting.push({ row, key, bodyHash, resolve, reject });
      schedule();
    });
    if (!isStored) return { code: 400_402, message: 'idempotency key used', data: null };
    return { code: 0, message: 'success', data: sessionOf(row, initialState) };
  },
);
await listen(server, port);
