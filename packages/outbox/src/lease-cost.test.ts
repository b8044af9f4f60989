import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { beginTurn, leaseDeliveries } from './delivery.sql.ts';
import { addWebhook, newOwner, type OutboxWorld, openOutboxWorld } from './test-world.ts';

let database: OutboxWorld;
let client: pg.Client;
before(async () => {
  database = await openOutboxWorld();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
});
after(async () => {
  await client.end();
  await database.close();
});

/** Adds due deliveries, each of an object of its own, spread over these webhooks. */
async function fill(ownerId: string, webhookIds: readonly string[], from: number, to: number): Promise<void> {
  await client.query(
    `with made as (
       select n, 'evt_' || lpad(n::text, 22, '0') as event_id, 'sess_' || n as object_id
       from generate_series($1::int, $2::int) as n
     ), inserted as (
       insert into events (event_id, merchant_id, event_type, object_id, sequence, body, created_at)
       select event_id, $3, 'order.paid', object_id, 1, '{}', now() from made
     )
     insert into deliveries
       (delivery_id, event_id, webhook_id, merchant_id, object_id, sequence, status, next_attempt_at, created_at)
     select 'dlv_' || n, event_id, ($4::text[])[1 + n % cardinality($4::text[])], $3, object_id, 1, 'pending', now(), now()
     from made`,
    [from, to, ownerId, webhookIds],
  );
}

/** The pages that leasing 64 deliveries reads, and the deliveries leased. */
async function leaseCost(): Promise<{ pages: number; rows: number }> {
  await client.query('begin');
  await client.query(beginTurn.text);
  const { rows } = await client.query<{ 'QUERY PLAN': { Plan: Record<string, number> }[] }>(
    `explain (analyze, buffers, format json) execute lease_deliveries(now(), now() + interval '1 minute', '{0,1,2,3,4,5,6,7}', 64, 16, 256, '{}', '{}')`,
  );
  await client.query('rollback');
  const plan = rows[0]?.['QUERY PLAN'][0]?.Plan ?? {};
  const pages = (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0);
  return { pages, rows: plan['Actual Rows'] ?? 0 };
}

test('a lease costs the same however many deliveries wait', async (t) => {
  const ownerId = newOwner();
  const webhooks = [];
  for (let index = 0; index < 4; index += 1) webhooks.push(await addWebhook(database.db, ownerId));
  const ids = webhooks.map(({ webhookId }) => webhookId);
  await client.query(
    `prepare lease_deliveries(timestamptz, timestamptz, int[], int, int, int, jsonb, jsonb) as ${leaseDeliveries.text}`,
  );
  await fill(ownerId, ids, 1, 1_000);
  const few = await leaseCost();
  await fill(ownerId, ids, 1_001, 15_000);
  const many = await leaseCost();
  t.diagnostic(`${few.pages} pages with 1,000 waiting, ${many.pages} with 15,000`);
  assert.deepEqual([few.rows, many.rows], [64, 64]);
  // Indexes may get one level deeper. A scan of all deliveries would read many times as many pages.
  assert.ok(many.pages < few.pages * 2, `${many.pages} against ${few.pages}`);
});
