import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { defaultDeliverySettings, maxBodyBytes, runDeliveries } from '@florin/outbox';
import { byteBudget, statement } from '@florin/pg';
import type { FastifyInstance } from 'fastify';
import { systemRandom } from '#outside/random.ts';
import { expireSessions } from '#sessions/session.ts';
import { silentLog } from '#telemetry/log.ts';
import { outboxWorker } from '#webhooks/outbox-context.ts';
import { countedDatabase, type StatementBytes } from '../../test/harness/byte-counter.ts';
import { deepOnly } from '../../test/harness/deep-only.ts';
import { largestLink, largestProduct, largestSession, largestWebhook } from '../../test/harness/largest.ts';
import { MerchantWorld } from '../../test/harness/merchant-fixture.ts';
import { until } from '../../test/harness/webhook-world.ts';
import { merchantDoor } from './merchant/merchant-door.ts';
import { buildServer } from './server.ts';

const storedSizes = statement({
  name: 'largest_test_sizes',
  columns: { items: 'int4', bodies: 'int4' },
  text: `select (select max(octet_length(line_items)) from sessions) as items,
     (select max(octet_length(body)) from events) as bodies`,
});

const pageSize = 100;
/** More than one full page. */
const sessionCount = 104;

let world: MerchantWorld;
let counted: ReturnType<typeof countedDatabase>;
let server: FastifyInstance;
let key: string;
let accountId: string;

before(async () => {
  world = await MerchantWorld.open();
  counted = countedDatabase(world.database.db);
  server = await buildServer({
    log: silentLog,
    random: systemRandom,
    origin: world.deps.origin,
    ready: async () => ({ ready: true, checks: {} }),
    doors: [merchantDoor({ ...world.deps, db: counted.db })],
  });
  const merchantId = await world.addMerchant();
  key = await world.addKey(merchantId);
  accountId = await world.addAccount(merchantId);
  assert.equal((await post('/webhook/create', largestWebhook)).code, 0);
  const { productId } = (await post('/product/create', largestProduct)).data;
  for (let index = 0; index < 17; index += 1) {
    assert.equal((await post('/payment/link/create', largestLink(accountId, productId))).code, 0);
  }
  for (let index = 0; index < sessionCount; index += 1) {
    assert.equal((await post('/session/checkout/create', largestSession(accountId))).code, 0);
  }
});
after(async () => {
  await server.close();
  await world.close();
});

const post = (path: string, body: unknown) => world.send('POST', path, { key, body });

async function read(path: string) {
  counted.take();
  const headers = { authorization: `Bearer ${key}` };
  const reply = await server.inject({ url: `/payment/v1${path}`, headers });
  return { reply, bytes: reply.rawPayload.length, statements: counted.take() };
}

/** Only one row may exceed the budget: a session with its metadata, or an event. */
const mostBytes = byteBudget + 2 * maxBodyBytes;
/** Bytes of one page of sessions that the budget does not count: their metadata, and some thousand bytes more. */
const uncountedBytes = pageSize * (16 + 4) * 1024;

function assertBounded(statements: readonly StatementBytes[], uncounted = 0): void {
  for (const { name, bytes } of statements) {
    assert.ok(bytes <= mostBytes + uncounted, `${name} gave ${bytes} bytes`);
  }
}

test('the largest session and the largest event have some 64 KiB, even from small requests', async () => {
  const [sizes] = await world.database.db.query(storedSizes);
  assert.ok(sizes !== undefined && sizes.items > 60_000 && sizes.items <= 64 * 1024, String(sizes?.items));
  assert.ok(sizes.bodies <= maxBodyBytes, String(sizes.bodies));
});

test(
  'a full page of the largest sessions is answered whole, and read within a byte budget',
  deepOnly,
  async () => {
    for (const list of ['all', 'initialized']) {
      const { reply, bytes, statements } = await read(`/session/list/${list}/1/${pageSize}`);
      const { sessions, total } = reply.json().data;
      assert.deepEqual([sessions.length, total], [pageSize, sessionCount]);
      assert.ok(
        new Set(sessions.map(({ session }: { session: { sessionId: string } }) => session.sessionId)).size ===
          pageSize,
      );
      assert.ok(bytes < 9_000_000, `${bytes} bytes`);
      assert.ok(statements.length >= 6, 'one statement read it all');
      assertBounded(statements, uncountedBytes);
    }
  },
);

test('each session of such a page equals the session read alone', async () => {
  const { sessions } = (await read(`/session/list/all/1/${pageSize}`)).reply.json().data;
  for (const place of [0, 15, 16, 17, 18, 50, 99]) {
    const { session } = sessions[place];
    assert.deepEqual(sessions[place], (await read(`/session/${session.sessionId}`)).reply.json().data);
  }
});

test('a full page of the largest events is answered whole, and read within a byte budget', async () => {
  const first = await read('/event/list/2/1');
  const after = first.reply.json().data.events[0].id;
  for (const path of [
    `/event/list/1/${pageSize}`,
    `/event/list/1/${pageSize}?type=session.*`,
    `/event/list/1/17?after=${after}&type=payment.link.*`,
  ]) {
    const { reply, statements } = await read(path);
    assert.equal(reply.json().code, 0, reply.body.slice(0, 300));
    assertBounded(statements);
  }
  const { events } = (await read(`/event/list/1/${pageSize}`)).reply.json().data;
  assert.equal(events.length, pageSize);
  for (const place of [0, 20, 99]) {
    assert.deepEqual(events[place], (await read(`/event/${events[place].id}`)).reply.json().data);
  }
});

test('full pages of the largest links and products stay within the sum of their limits', async () => {
  for (const [path, most] of [
    [`/payment/link/list/1/${pageSize}`, 1_000_000],
    [`/product/list/1/${pageSize}`, 100_000],
    ['/webhook/list', 100_000],
  ] as const) {
    const { reply, bytes, statements } = await read(path);
    assert.equal(reply.json().code, 0, path);
    assert.ok(bytes < most, `${path}: ${bytes} bytes`);
    assertBounded(statements);
  }
});

test('deliveries of the largest events are claimed within a byte budget, and the rest are left for later', async () => {
  counted.take();
  const stop = new AbortController();
  const { deps } = world;
  const claims = 256;
  const room = { start: claims, least: 1, most: claims };
  let posted = 0;
  const egress = {
    post: async () => {
      posted += 1;
      return { status: 204, headers: { retryAfter: undefined }, bodyText: '', latencyMs: 1 };
    },
  };
  const settings = { ...defaultDeliverySettings, perWebhook: room };
  const worker = outboxWorker({ ...deps, db: counted.db, log: silentLog, egress, settings });
  const running = runDeliveries(worker, stop.signal);
  await until(() => posted > 100, 'deliveries have been sent');
  stop.abort();
  await running;
  const statements = counted.take();
  // Each claim includes the webhook's address.
  assertBounded(statements, claims * 2_048);
  const readLater = statements.filter(({ name }) => name === 'webhooks_body_of_event').length;
  assert.ok(readLater > 0 && readLater < posted, `${readLater} of ${posted}`);
});

test('the largest sessions expire within a byte budget until none is left', deepOnly, async () => {
  world.clock.time += 3_600_000;
  counted.take();
  let expired = 0;
  let rounds = 0;
  for (let count = -1; count !== 0; rounds += 1) {
    count = await counted.db.transaction((transaction) => expireSessions(transaction, world.deps, 200));
    expired += count;
  }
  assert.equal(expired, sessionCount);
  assert.ok(rounds > 6, `${rounds} rounds`);
  assertBounded(counted.take());
});
