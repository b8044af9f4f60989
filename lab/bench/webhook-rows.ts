import { randomBytes } from 'node:crypto';
import { withSystemScope } from '@florin/pg';
import { schema, secretBox, systemRandom } from '@florin/server/operator';
import pg from 'pg';

/** A queue that the bench fills with deliveries and a worker empties. */
export interface Queue {
  /** Makes this many deliveries due in one commit. */
  fill(count: number): Promise<void>;
  pendingCount(): Promise<number>;
  close(): Promise<void>;
}

/** One webhook per origin. */
export interface Targets {
  readonly origins: readonly string[];
  readonly masterKey: Buffer;
}

/** Tables of the bare queue. */
export const bareSchema = `
  create table queue (
    id bigint generated always as identity primary key,
    event_id text not null,
    origin text not null,
    secret bytea not null,
    body text not null,
    is_pending bool not null default true,
    claimed_until timestamptz
  );
  create index queue_pending on queue (id) where is_pending;
  create table attempts (id bigint not null, at timestamptz not null, status int not null, latency_ms int not null);
`;

/** About the length of session.completed for a checkout session with two line items. */
const bodyBytes = 2_000;

/** SQL of a body of {@link bodyBytes} bytes around the event's id. */
const bodySql = `'{"id":"' || event_id || '","type":"session.completed","data":"${'x'.repeat(bodyBytes - 70)}"}'`;

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: withSystemScope(url, schema) });
  // PostgreSQL may end first when a bench fails. The original error matters more than the lost connection.
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

async function openQueue(
  url: string,
  fillText: string,
  pendingText: string,
  more: unknown[],
): Promise<Queue> {
  const client = await connect(url);
  let run = 0;
  return {
    async fill(count) {
      run += 1;
      await client.query(fillText, [count, run, ...more]);
    },
    async pendingCount() {
      const { rows } = await client.query<{ pending: string }>(pendingText);
      return Number(rows[0]?.pending ?? 0);
    },
    close: () => client.end(),
  };
}

/** The bare queue's rows. */
export function bareQueue(url: string, { origins }: Targets): Promise<Queue> {
  return openQueue(
    url,
    `insert into queue (event_id, origin, secret, body)
     select event_id, ($3::text[])[1 + n % ${origins.length}], $4, ${bodySql}
     from (select n, 'evt_' || lpad($2::int || 'x' || n, 22, '0') as event_id from generate_series(1, $1::int) as n) as made`,
    'select count(*) as pending from queue where is_pending',
    [origins, randomBytes(32)],
  );
}

/** The product's rows: one event and one delivery per session, and one merchant with a webhook for each origin. */
export async function productQueue(url: string, { origins, masterKey }: Targets): Promise<Queue> {
  const box = secretBox([masterKey]);
  const webhookIds = origins.map((_, index) => `wkid_${String(index).padStart(22, '0')}`);
  const client = await connect(url);
  await client.query(
    `insert into merchants (merchant_id, merchant_name, created_at)
     select 'mer_' || n, 'Bench', now() from generate_series(1, ${origins.length}) as n`,
  );
  await client.query(
    `insert into webhooks (webhook_id, merchant_id, webhook_name, webhook_description, webhook_url, status,
       subscribed_events, sealed_key, created_at, updated_at)
     select webhook_id, 'mer_' || ordinality, 'Bench', '', url, 'active', '{*}', sealed, now(), now()
     from unnest($1::text[], $2::text[], $3::bytea[]) with ordinality as made (webhook_id, url, sealed)`,
    [
      webhookIds,
      origins.map((origin) => `${origin}/hook`),
      webhookIds.map((webhookId) => Buffer.from(box.seal(systemRandom, randomBytes(32), webhookId))),
    ],
  );
  await client.end();
  return openQueue(
    url,
    `with made as (
       select n, 1 + n % ${origins.length} as target,
         'evt_' || lpad($2::int || 'x' || n, 22, '0') as event_id, 'sess_' || lpad($2::int || 'x' || n, 22, '0') as object_id
       from generate_series(1, $1::int) as n
     ), inserted_events as (
       insert into events (event_id, merchant_id, event_type, object_id, sequence, body, created_at)
       select event_id, 'mer_' || target, 'session.completed', object_id, 1, ${bodySql}, now() from made
     ), queued as (
       insert into deliveries (delivery_id, event_id, webhook_id, merchant_id, object_id, sequence, status,
         next_attempt_at, created_at)
       select 'dlv_' || substr(event_id, 5), event_id, ($3::text[])[target], 'mer_' || target, object_id, 1, 'pending', now(), now()
       from made
     )
     select pg_notify('florin_deliveries', '')`,
    `select count(*) as pending from deliveries where status = 'pending'`,
    [webhookIds],
  );
}
