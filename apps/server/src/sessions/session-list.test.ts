import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { type Queryable, statement, withSystemScope } from '@florin/pg';
import type { SessionStatus } from '@florin/protocol/session.ts';
import pg from 'pg';
import { addUpLists } from '#db/list-count.ts';
import { schema } from '#db/schema.ts';
import { testDatabase } from '../../test/harness/database.ts';
import { allOf } from '../../test/harness/portions.ts';
import { listSessionViews } from './session-list.ts';

/** A page with all its portions. */
async function pageOf(...asked: Parameters<typeof listSessionViews>) {
  const { place, portions } = await listSessionViews(...asked);
  return { ...place, views: await allOf(portions) };
}

const database = await testDatabase({ connections: 12 });
after(() => database.close());
const { db } = database;

const statuses = ['initialized', 'paid', 'settling', 'completed', 'expired'] as const;

// Each session takes $4 ordinals, so that few rows fill many buckets.
const addSessions = statement({
  name: 'session_list_test_add',
  parameters: { merchantId: 'text', count: 'int8', statuses: 'text[]', spacing: 'int8' },
  text: `insert into sessions (session_id, merchant_id, session_type, business_id, business_type, client_code, account_id,
     account_version, recipient, settlement_token, fee_model, amount, line_items, payer_email_required, success_url,
     metadata, meta_data, salt, channel_id, expiration_time, status, ordinal, created_at, updated_at)
   overriding system value
   select 'sess_' || md5(random()::text || n), :merchantId, 'chk', '', '', '', 'acc_1', 'acv_1', '0x00', 'ethereum::usdc', 1, 1,
     '[]', false, '', '{}', '', '', '', now(), (:statuses::text[])[1 + mod(n, cardinality(:statuses::text[]))], spaced.ordinal,
     now(), now()
   from generate_series(1, :count) as n cross join lateral (
     select max(nextval('sessions_ordinal_seq')) as ordinal from generate_series(1, :spacing) where n > 0
   ) as spaced`,
});
const moveSessions = statement({
  name: 'session_list_test_move',
  parameters: { merchantId: 'text', status: 'text', limit: 'int8' },
  text: `update sessions set status = :status where session_id in (
     select session_id from sessions where merchant_id = :merchantId order by random() limit :limit for update skip locked)`,
});
// Nothing in the service deletes a session, but the counts must not depend on that.
const allowRemoval = statement({
  name: 'session_list_test_allow_removal',
  text: 'alter table sessions disable trigger sessions_stay',
});
before(() => db.query(allowRemoval));
const removeSessions = statement({
  name: 'session_list_test_remove',
  parameters: { merchantId: 'text', limit: 'int8' },
  text: `delete from sessions where session_id in (
     select session_id from sessions where merchant_id = :merchantId order by random() limit :limit for update skip locked)`,
});
const setStatus = statement({
  name: 'session_list_test_set_status',
  parameters: { sessionId: 'text', status: 'text' },
  text: 'update sessions set status = :status where session_id = :sessionId',
});
const allIds = statement({
  name: 'session_list_test_ids',
  parameters: { merchantId: 'text', statuses: 'text[]' },
  columns: { session_id: 'text' },
  text: 'select session_id from sessions where merchant_id = :merchantId and status = any (:statuses) order by ordinal desc',
});
const oneSnapshot = statement({
  name: 'session_list_test_snapshot',
  text: 'set transaction isolation level repeatable read, read only',
});

class GivenUp extends Error {}

/** Checks every page that `pagesOf` names, of every list of the merchant, in one snapshot. */
async function checkLists(merchantId: string, size: number, pagesOf: (pages: number) => number[]) {
  await db.transaction(async (transaction) => {
    await transaction.query(oneSnapshot);
    for (const status of [undefined, ...statuses]) await checkList(transaction, status);
  });

  async function checkList(queryable: Queryable, status: SessionStatus | undefined) {
    const wanted = status === undefined ? [...statuses] : [status];
    const ids = (await queryable.query(allIds, { merchantId, statuses: wanted })).map(
      (row) => row.session_id,
    );
    const request = { merchantId, size, ...(status === undefined ? {} : { status }) };
    for (const page of pagesOf(Math.ceil(ids.length / size))) {
      const { total, hasMore, views } = await pageOf(queryable, { ...request, page });
      assert.deepEqual(
        { page, total, hasMore, ids: views.map(({ session }) => session.sessionId) },
        {
          page,
          total: ids.length,
          hasMore: page * size < ids.length,
          ids: ids.slice((page - 1) * size, page * size),
        },
      );
    }
  }
}

const everyPage = (pages: number) => Array.from({ length: pages + 2 }, (_value, index) => index + 1);

async function addUpAll(limit: number): Promise<void> {
  while (await db.transaction((transaction) => addUpLists(transaction, limit)));
}

/** Begins to add up the counts, and rolls back. */
async function addUpAndDie(): Promise<void> {
  const client = new pg.Client({ connectionString: withSystemScope(database.url, schema) });
  client.on('error', () => undefined);
  await client.connect();
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  await client.query('begin');
  const transaction = {
    inTransaction: true as const,
    query: async (
      each: { text: string; positioned: (...values: unknown[]) => readonly unknown[] },
      ...values: unknown[]
    ) => (await client.query(each.text, [...each.positioned(...values)])).rows,
    write: () => assert.fail('adding up waits for its answers'),
  };
  await addUpLists(transaction as unknown as Parameters<typeof addUpLists>[0], 50);
  await db.query(killBackend, { pid: rows[0]?.pid ?? 0 });
  await client.end().catch(() => undefined);
}

const killBackend = statement({
  name: 'session_list_test_kill',
  parameters: { pid: 'int4' },
  columns: { killed: 'bool' },
  text: 'select pg_terminate_backend(:pid) as killed',
});

test('totals and every page are exact before and after counts are added up, and pages beyond the end are empty', async () => {
  const merchantId = `mer_${randomBytes(8).toString('hex')}`;
  await db.query(addSessions, { merchantId, count: 3_000, statuses, spacing: 40 });
  await checkLists(merchantId, 100, everyPage);
  await addUpAll(100);
  await checkLists(merchantId, 100, everyPage);
  await db.query(moveSessions, { merchantId, status: 'completed', limit: 1_500 });
  await db.query(removeSessions, { merchantId, limit: 200 });
  await checkLists(merchantId, 77, everyPage);
  await addUpAll(100);
  await checkLists(merchantId, 77, everyPage);
  assert.deepEqual(await pageOf(db, { merchantId: 'mer_none', page: 1, size: 10 }), {
    ...{ total: 0, hasMore: false, nextCursor: '' },
    views: [],
  });
});

test('cursors visit each session of a list once, even while sessions arrive and change their status', async () => {
  const merchantId = `mer_${randomBytes(8).toString('hex')}`;
  await db.query(addSessions, { merchantId, count: 430, statuses, spacing: 1 });
  for (const status of [undefined, 'paid'] as const) {
    const wanted = status === undefined ? [...statuses] : [status];
    const before = (await db.query(allIds, { merchantId, statuses: wanted })).map((row) => row.session_id);
    const read: string[] = [];
    let after: string | undefined;
    do {
      const page = await pageOf(db, { merchantId, status, page: 1, size: 50, after });
      read.push(...page.views.map(({ session }) => session.sessionId));
      after = page.nextCursor === '' ? undefined : page.nextCursor;
      assert.equal(page.hasMore, after !== undefined);
      await db.query(addSessions, { merchantId, count: 7, statuses, spacing: 1 });
      // The item of the cursor leaves the list that it was read from.
      if (status !== undefined)
        await db.query(setStatus, { sessionId: read.at(-1) ?? '', status: 'settling' });
    } while (after !== undefined);
    assert.deepEqual(read, before);
  }
});

test('pages after a cursor count from 1', async () => {
  const merchantId = `mer_${randomBytes(8).toString('hex')}`;
  await db.query(addSessions, { merchantId, count: 60, statuses, spacing: 1 });
  const { nextCursor } = await pageOf(db, { merchantId, page: 1, size: 20 });
  assert.deepEqual(
    await pageOf(db, { merchantId, page: 2, size: 20, after: nextCursor }),
    await pageOf(db, { merchantId, page: 3, size: 20 }),
  );
});

test('a cursor that names no session of the merchant is refused', async () => {
  const [own, other] = [randomBytes(8), randomBytes(8)].map((bytes) => `mer_${bytes.toString('hex')}`);
  await db.query(addSessions, { merchantId: other ?? '', count: 2, statuses, spacing: 1 });
  const { nextCursor } = await pageOf(db, { merchantId: other ?? '', page: 1, size: 1 });
  for (const after of [nextCursor, 'sess_none'])
    await assert.rejects(pageOf(db, { merchantId: own ?? '', page: 1, size: 1, after }), {
      slug: 'field_invalid',
    });
});

test('in every snapshot totals and pages are exact while writers commit, roll back and crash', async () => {
  const merchantId = `mer_${randomBytes(8).toString('hex')}`;
  await db.query(addSessions, { merchantId, count: 2_500, statuses, spacing: 40 });
  await addUpAll(1_000);
  let isOver = false;
  const writer = async (seed: number) => {
    for (let round = 0; round < 12; round += 1) {
      const status = statuses[(seed + round) % statuses.length] ?? 'paid';
      const work = db.transaction(async (transaction) => {
        await transaction.query(addSessions, {
          merchantId,
          count: 1 + ((seed * 7 + round) % 30),
          statuses,
          spacing: 40,
        });
        await transaction.query(moveSessions, { merchantId, status, limit: 20 });
        if (round % 3 === 0) await transaction.query(removeSessions, { merchantId, limit: 5 });
        // What was written with a batch before is undone by a transaction that gives up.
        if ((seed + round) % 4 === 0) throw new GivenUp();
      });
      await work.catch((error: unknown) => {
        if (!(error instanceof GivenUp)) throw error;
      });
    }
  };
  const counter = async () => {
    while (!isOver) {
      await addUpAll(30);
      await addUpAndDie();
    }
  };
  const reader = async (seed: number) => {
    for (let round = seed; !isOver; round += 1)
      await checkLists(merchantId, 100, (pages) => [1, 1 + (round % (pages + 1)), pages + 1]);
  };
  const writers = [1, 2, 3, 4].map(writer);
  const others = [counter(), reader(0), reader(5)];
  await Promise.all(writers).finally(() => {
    isOver = true;
  });
  await Promise.all(others);
  await checkLists(merchantId, 100, everyPage);
  await addUpAll(1_000);
  await checkLists(merchantId, 100, everyPage);
});

test('one read has a consistent total and page during concurrent writes', async () => {
  const merchantId = `mer_${randomBytes(8).toString('hex')}`;
  await db.query(addSessions, { merchantId, count: 20, statuses, spacing: 1 });
  let isOver = false;
  const change = async () => {
    for (let round = 0; round < 60; round += 1) {
      await db.query(addSessions, { merchantId, count: 9, statuses: ['initialized'], spacing: 1 });
      await db.query(removeSessions, { merchantId, limit: 9 });
      await db.query(moveSessions, { merchantId, status: 'paid', limit: 5 });
    }
  };
  const count = async () => {
    while (!isOver) await addUpAll(20);
  };
  const read = async (status: SessionStatus | undefined) => {
    const request = { merchantId, page: 1, size: 100, ...(status === undefined ? {} : { status }) };
    while (!isOver) {
      const { total, views } = await pageOf(db, request);
      assert.equal(total, views.length);
    }
  };
  const others = [count(), read(undefined), read('initialized'), read('paid')];
  await Promise.all([change(), change(), change()]).finally(() => {
    isOver = true;
  });
  await Promise.all(others);
});

test('arriving sessions move old pages back and do not change them', async () => {
  const merchantId = `mer_${randomBytes(8).toString('hex')}`;
  const page = async (number: number) => {
    const { views } = await pageOf(db, { merchantId, page: number, size: 50 });
    return views.map(({ session }) => session.sessionId);
  };
  await db.query(addSessions, { merchantId, count: 400, statuses, spacing: 40 });
  const before = [await page(1), await page(5), await page(8)];
  await db.query(addSessions, { merchantId, count: 50, statuses: ['initialized'], spacing: 40 });
  assert.deepEqual([await page(2), await page(6), await page(9)], before);
  await addUpAll(5);
  assert.deepEqual([await page(2), await page(6), await page(9)], before);
});

test('the migration keeps the earlier counts, added up or not', async () => {
  const merchantId = `mer_${randomBytes(8).toString('hex')}`;
  await db.query(addSessions, { merchantId, count: 700, statuses, spacing: 40 });
  const migration = new URL('../db/migrations/0238_list-totals.sql', import.meta.url);
  const client = new pg.Client({ connectionString: withSystemScope(database.url, schema) });
  await client.connect();
  try {
    await client.query('begin');
    // Migration 0242 has dropped the tables that were counted in before.
    await client.query(`create table list_changes (merchant_id text, list text, facet text, bucket int, change int);
      create table list_counts (
        merchant_id text, list text, facet text, level int, start bigint, row_count bigint, last_bucket int,
        primary key (merchant_id, list, facet, level, start)
      );
      insert into list_counts (merchant_id, list, facet, level, start, row_count, last_bucket)
      select merchant_id, list, wider.facet, level, 0, row_count, 0
      from list_totals cross join generate_series(0, 2) as level
        cross join lateral (select list_totals.facet union select '*') as wider (facet)
      where list = 'sessions' on conflict do nothing;
      insert into list_changes (merchant_id, list, facet, bucket, change)
      select merchant_id, list, facet, 0, change from list_total_changes;
      drop table list_totals, list_total_changes; drop function list_total cascade`);
    await client.query(await readFile(migration, 'utf8'));
    await client.query('commit');
  } finally {
    await client.end();
  }
  await checkLists(merchantId, 100, everyPage);
  await addUpAll(300);
  await checkLists(merchantId, 100, everyPage);
});
