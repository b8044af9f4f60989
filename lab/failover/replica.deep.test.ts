import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Database, migrate, openDatabase, statement } from '@florin/pg';
import { schema, systemClock } from '@florin/server/operator';
import { openLists } from '@florin/server/parts';
import { MerchantWorld } from '@florin/server/testing';
import {
  type ArchivedPostgres,
  installRecovery,
  startArchivedPostgres,
} from '../recovery/archived-postgres.ts';
import { type Standby, startStandby } from './standby.ts';

const maxLagSeconds = 2;
/** How long the test waits for the standby to be used again. */
const patienceMs = 60_000;

const limitTime = statement({
  name: 'replica_test_limit_time',
  columns: { limit: 'text' },
  text: "select set_config('statement_timeout', '50ms', true) as limit",
});
const takeLong = statement({
  name: 'replica_test_take_long',
  columns: { slept: 'text' },
  text: 'select pg_sleep(10)::text as slept',
});
/** Lengthens the log by a megabyte. */
const writeMuch = statement({
  name: 'replica_test_write_much',
  columns: { written: 'text' },
  text: "select pg_logical_emit_message(false, 'test', repeat('x', 1000000))::text as written",
});

let postgres: ArchivedPostgres;
let standby: Standby;
let db: Database;
/** The process of merchants who read lists, and another one without a replica. */
let reading: MerchantWorld;
let writing: MerchantWorld;
let lists: ReturnType<typeof openLists>;
/** Which server answered each list. */
const answeredBy: string[] = [];
const failures: string[] = [];

before(async () => {
  installRecovery();
  postgres = await startArchivedPostgres('pg_basebackup');
  await migrate(postgres.url, schema);
  standby = await startStandby(postgres.url);
  db = openDatabase({ schema, url: postgres.url });
  lists = openLists(
    {
      databaseReplica: { url: standby.url, maxLagSeconds },
      clock: systemClock,
      log: { info: () => {}, warn: (event) => failures.push(event), error: () => {} },
      metrics: { listRead: (server) => answeredBy.push(server) },
    },
    db,
  );
  const database = { url: postgres.url, db, close: async () => {} };
  reading = await MerchantWorld.open(database, lists);
  writing = await MerchantWorld.open(database);
});
after(async () => {
  await reading?.close();
  await writing?.close();
  await lists?.close();
  await db?.close();
  await standby?.close();
  await postgres?.close();
});

async function createSession(world: MerchantWorld, key: string, accountId: string): Promise<string> {
  const lineItems = [
    { itemType: 'one_time', quantity: 1, unitPrice: 2_000_000, productData: { productName: 'Tea' } },
  ];
  const body = { accountId, settlementToken: 'ethereum::usdc', lineItems };
  const { data, message } = await world.send('POST', '/session/checkout/create', { key, body });
  assert.ok(data !== null, message);
  return data.sessionId;
}

/** Reads a list; which server answered it is the last of `answeredBy`. */
async function read(key: string, path = '/session/list/all/1/100'): Promise<string[]> {
  const reply = path.endsWith('search')
    ? await reading.send('POST', path, { key, body: {} })
    : await reading.send('GET', path, { key });
  assert.equal(reply.code, 0, `${path}: ${reply.message}`);
  const views: { session: { sessionId: string } }[] = reply.data.sessions ?? [];
  return views.map(({ session }) => session.sessionId);
}

async function untilAnsweredBy(server: string, key: string, path?: string): Promise<string[]> {
  for (const end = performance.now() + patienceMs; performance.now() < end; await systemClock.sleep(100)) {
    const sessions = await read(key, path);
    if (answeredBy.at(-1) === server) return sessions;
  }
  throw new Error(`the ${server} does not answer ${path ?? 'the list'}: ${failures}`);
}

test('a read that is too slow for a standby is not repeated, and leaves the standby to others', async () => {
  const merchantId = await writing.addMerchant();
  let runs = 0;
  const tooSlow = () =>
    lists.read(merchantId, (server) =>
      server.transaction(async (transaction) => {
        runs += 1;
        await transaction.query(limitTime);
        await transaction.query(takeLong);
      }),
    );
  await untilAnsweredBy('replica', await writing.addKey(merchantId));
  await assert.rejects(tooSlow(), { code: '57014' });
  assert.deepEqual([runs, failures], [1, []]);
});

// Their positions are lower than the standby's, so that positions alone would not tell.
test('a standby of another cluster, or of one whose place another primary has taken, answers nothing', async () => {
  const merchantId = await writing.addMerchant();
  const heir = await startStandby(postgres.url);
  const stranger = await startArchivedPostgres('pg_basebackup');
  try {
    await heir.promote();
    await createSession(writing, await writing.addKey(merchantId), await writing.addAccount(merchantId));
    await db.query(writeMuch);
    for (const { url } of [heir, stranger]) {
      const primary = openDatabase({ schema, url });
      const servers: string[] = [];
      const asked = openLists(
        {
          databaseReplica: { url: standby.url, maxLagSeconds },
          clock: systemClock,
          log: { info: () => {}, warn: (event) => servers.push(event), error: () => {} },
          metrics: { listRead: (server) => servers.push(server) },
        },
        primary,
      );
      for (let reads = 0; reads < 40; reads += 1) {
        await asked.read(merchantId, async () => {});
        await systemClock.sleep(50);
      }
      await asked.close();
      await primary.close();
      assert.deepEqual(servers, Array(40).fill('primary'), url);
    }
  } finally {
    await stranger.close();
    await heir.close();
  }
});

test('a standby answers lists with rows of the merchant alone, never older than the bound, and the primary without it', async (t) => {
  const [mine, other] = await Promise.all(
    [0, 1].map(async () => {
      const merchantId = await writing.addMerchant();
      return { key: await writing.addKey(merchantId), accountId: await writing.addAccount(merchantId) };
    }),
  );
  assert.ok(mine !== undefined && other !== undefined);
  const first = await createSession(reading, mine.key, mine.accountId);
  const foreign = await createSession(writing, other.key, other.accountId);

  // What a merchant writes through a process shows in its next list.
  assert.deepEqual([await read(mine.key), answeredBy.at(-1)], [[first], 'primary']);
  assert.deepEqual(await untilAnsweredBy('replica', mine.key), [first]);
  assert.deepEqual(await untilAnsweredBy('replica', other.key), [foreign]);
  const fields = { webhookName: 'Shop', webhookUrl: 'https://shop.example/hook', subscribedEvents: ['*'] };
  const webhook = await reading.send('POST', '/webhook/create', { key: mine.key, body: fields });
  const paths = ['/session/search', '/event/list/1/10', '/refund/list/1/10', '/exception/list/1/10'];
  for (const path of [...paths, `/webhook/delivery/list/${webhook.data.webhookId}/1/10`])
    await untilAnsweredBy('replica', mine.key, path);
  assert.equal(failures.length, 0, String(failures));

  // The standby goes on answering, and falls behind. Another process writes.
  await standby.setReplaying(false);
  await untilAnsweredBy('replica', mine.key);
  const second = await createSession(writing, mine.key, mine.accountId);
  const createdMs = performance.now();
  let stale = 0;
  let oldestMs = 0;
  for (let askedMs = createdMs; askedMs < createdMs + 2_000 * maxLagSeconds; askedMs = performance.now()) {
    const isThere = (await read(mine.key)).includes(second);
    if (!isThere) {
      stale += 1;
      oldestMs = askedMs - createdMs;
    }
    await systemClock.sleep(20);
  }
  assert.ok(oldestMs <= maxLagSeconds * 1_000, `an answer was ${oldestMs} ms old`);
  assert.deepEqual([await read(mine.key), answeredBy.at(-1)], [[second, first], 'primary']);
  t.diagnostic(
    `${stale} answers lacked what was written meanwhile, the oldest for ${Math.round(oldestMs)} ms`,
  );

  await standby.setReplaying(true);
  assert.deepEqual(await untilAnsweredBy('replica', mine.key), [second, first]);
  await standby.kill();
  for (let reads = 0; reads < 5; reads += 1) assert.deepEqual(await read(mine.key), [second, first]);
  assert.equal(answeredBy.at(-1), 'primary');
  assert.ok(failures.includes('database.replica_failed'));
});
