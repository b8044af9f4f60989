// Limit of webhook delivery: a bare durable queue. It claims 64 rows, signs and posts each over HTTPS keep-alive. One
// statement then marks them done and logs the attempts. It has no order, no fairness, no retries, no pauses and no
// limits.
import { createHmac } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Pool } from 'undici';
import { connect } from './limit-server.ts';

interface Item {
  readonly id: string;
  readonly event_id: string;
  readonly origin: string;
  readonly secret: Buffer;
  readonly body: string;
}

const batch = 64;
const batchesInFlight = 4;
const claimText = `
  with claimed as (
    select id from queue
    where is_pending and (claimed_until is null or claimed_until < now())
    order by id limit ${batch} for update skip locked
  )
  update queue set claimed_until = now() + interval '60 seconds' from claimed where queue.id = claimed.id
  returning queue.id, queue.event_id, queue.origin, queue.secret, queue.body`;
const recordText = `
  with done as (update queue set is_pending = false where id = any ($1::bigint[]))
  insert into attempts (id, at, status, latency_ms) select * from unnest($1::bigint[], $2::timestamptz[], $3::int[], $4::int[])`;

const pools = new Map<string, Pool>();

async function send(item: Item): Promise<{ at: Date; status: number; latencyMs: number }> {
  let pool = pools.get(item.origin);
  if (pool === undefined) {
    pool = new Pool(item.origin, { connections: 128, pipelining: 1, allowH2: false });
    pools.set(item.origin, pool);
  }
  const at = new Date();
  const seconds = String(Math.floor(at.getTime() / 1000));
  const signed = `${item.event_id}.${seconds}.${item.body}`;
  const started = performance.now();
  const { statusCode, body } = await pool.request({
    method: 'POST',
    path: '/hook',
    headers: {
      'content-type': 'application/json',
      'webhook-id': item.event_id,
      'webhook-timestamp': seconds,
      'webhook-signature': `v1,${createHmac('sha256', item.secret).update(signed).digest('base64')}`,
    },
    body: item.body,
  });
  await body.dump();
  return { at, status: statusCode, latencyMs: Math.round(performance.now() - started) };
}

async function drain(url: string): Promise<never> {
  const client = await connect(url);
  for (;;) {
    const { rows } = await client.query<Item>({ name: 'claim', text: claimText });
    if (rows.length === 0) {
      await delay(20);
      continue;
    }
    const answers = await Promise.all(rows.map(send));
    await client.query({
      name: 'record',
      text: recordText,
      values: [
        rows.map((row) => row.id),
        answers.map((answer) => answer.at),
        answers.map((answer) => answer.status),
        answers.map((answer) => answer.latencyMs),
      ],
    });
  }
}

const url = process.env['LIMIT_DATABASE_URL'] ?? '';
process.once('disconnect', () => process.exit(0));
for (let index = 0; index < batchesInFlight; index += 1) void drain(url);
process.send?.('ready');
