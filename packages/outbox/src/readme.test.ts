import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { Webhook as Verifier } from 'standardwebhooks';
import type { Post } from './context.ts';
import { openOutboxWorld, until } from './test-world.ts';

const folder = new URL('../', import.meta.url);
const world = await openOutboxWorld();
// Inside the package, so that its imports are found.
const scratch = await mkdtemp(fileURLToPath(new URL('.readme-', folder)));
after(async () => {
  await world.close();
  await rm(scratch, { recursive: true });
});

test('the example of the README delivers a signed event', async () => {
  const readme = await readFile(new URL('README.md', folder), 'utf8');
  const source = /```ts\n([\s\S]*?)\n```/.exec(readme)?.[1] ?? '';
  const file = `${scratch}/example.ts`;
  await writeFile(file, source);
  const client = new pg.Client({ connectionString: world.url });
  await client.connect();
  await client.query(`create table orders (order_id text primary key, status text not null)`);
  await client.query(`insert into orders values ('order_1', 'open')`);
  const posted: Parameters<Post>[] = [];
  const post: Post = async (...request) => {
    posted.push(request);
    return { status: 204, bodyText: '', retryAfter: undefined };
  };
  const stop = new AbortController();
  const { example } = await import(file);
  const { key, running } = await example(world.db, { ...world.worker(), post }, stop.signal);
  await until(() => posted.length > 0, 'the event is delivered');
  stop.abort();
  await running;
  const [url, { headers, body }] = posted[0] ?? assert.fail();
  assert.equal(url, 'https://shop.example/hook');
  assert.deepEqual(new Verifier(key).verify(body, { ...headers }), JSON.parse(body));
  const { type, sequence, data } = JSON.parse(body);
  assert.deepEqual(
    [type, sequence, data],
    ['order.paid', 1, { order: { orderId: 'order_1', status: 'paid' } }],
  );
  const { rows } = await client.query('select status from orders');
  assert.deepEqual(rows, [{ status: 'paid' }]);
  await client.end();
});
