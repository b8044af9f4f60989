import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { statement } from '@florin/pg';
import type { SessionStatus } from '@florin/protocol/session.ts';
import { addUpLists } from '#db/list-count.ts';
import { createMerchant } from '#merchants/merchant.ts';
import { systemClock } from '#outside/clock.ts';
import { systemRandom } from '#outside/random.ts';
import { archiveSessions } from '#sessions/archive.ts';
import { eraseOld } from '#sessions/erasure.ts';
import { searchSessions } from '#sessions/search.ts';
import { indexSessions } from '#sessions/search-index.ts';
import { listSessionViews } from '#sessions/session-list.ts';
import { type TestDatabase, testDatabase } from './harness/database.ts';
import { allSeeded, type ManySessions, seeded, seedSessions } from './harness/many-sessions.ts';
import { allOf } from './harness/portions.ts';

const policy = { unpaidAfterDays: 90, paidAfterDays: 730, emailsAfterDays: 730, networksAfterDays: 30 };
const dayMs = 86_400_000;
const months = 30;
const perMonth = 600;
const batch = 250;

const sizes = statement({
  name: 'aging_sizes',
  columns: { live: 'int8', archived: 'int8', live_bytes: 'int8', archive_bytes: 'int8', emails: 'int8' },
  text: `select (select count(*) from only sessions) as live, (select count(*) from sessions_archive) as archived,
     pg_total_relation_size('sessions')::int8 as live_bytes, pg_total_relation_size('sessions_archive')::int8 as archive_bytes,
     (select count(*) from orders where payer_email <> '') as emails`,
});
const vacuum = statement({
  name: 'aging_vacuum',
  text: 'vacuum full sessions, sessions_archive',
});

let database: TestDatabase;
before(async () => {
  database = await testDatabase();
});
after(() => database.close());

/** The state that a seeded session has by now: none that is unfinished is archived. */
async function everyPage(
  merchantId: string,
  status?: SessionStatus,
): Promise<{ total: number; ids: string[] }> {
  const ids: string[] = [];
  for (let after = '', page = 1; ; page += 1) {
    const filter = status === undefined ? {} : { status };
    const read = await listSessionViews(database.db, { merchantId, page: 1, size: 100, after, ...filter });
    const views = await allOf(read.portions);
    ids.push(...views.map(({ session }) => session.sessionId));
    after = read.place.nextCursor;
    if (after === '' || page > 100) return { total: read.place.total, ids };
  }
}

async function checkMonth(sessions: ManySessions): Promise<void> {
  const { merchantId } = sessions;
  const all = [...allSeeded(sessions)];
  for (const status of [undefined, 'initialized', 'expired', 'cancelled', 'paid', 'completed'] as const) {
    const wanted = all.filter((each) => status === undefined || each.status === status);
    const expected = { total: wanted.length, ids: wanted.map(({ sessionId }) => sessionId) };
    assert.deepEqual(await everyPage(merchantId, status), expected, `${merchantId} ${status ?? 'all'}`);
  }
  const one = seeded(sessions, 111);
  for (const body of [{ text: one.order }, { payer: one.payer }, { txHash: one.txHash }]) {
    const { portions } = await searchSessions(database.db, { merchantId, body, showsEmail: true });
    const found = (await allOf(portions)).map(({ session }) => session.sessionId);
    assert.deepEqual(found.includes(one.sessionId), true, JSON.stringify(body));
  }
}

test('in thirty months the written table stays small, and every list, total and search stays right', async (t) => {
  const { db, url } = database;
  const startMs = Date.UTC(2024, 0, 1);
  const made: ManySessions[] = [];
  const live: number[] = [];
  for (let month = 0; month < months; month += 1) {
    const now = new Date(startMs + month * 30 * dayMs);
    const merchant = await db.transaction((one) =>
      createMerchant(one, { clock: systemClock, random: systemRandom }, { merchantName: 'Shop' }),
    );
    const sessions: ManySessions = {
      merchantId: merchant.merchantId,
      accountIds: ['acc_0000000000000000000001', 'acc_0000000000000000000002'],
      count: perMonth,
      startedAt: now.getTime() / 1_000 - perMonth * 7 - 3_600,
    };
    made.push(sessions);
    await seedSessions(url, db, [sessions], () => {});
    while ((await db.transaction((one) => archiveSessions(one, policy, now, batch))) > 0);
    while ((await eraseOld(db, policy, now, batch)) > 0);
    while (await db.transaction((one) => addUpLists(one, 2_000)));
    while (await db.transaction((one) => indexSessions(one)));
    const [row] = await db.query(sizes);
    assert.ok(row !== undefined);
    live.push(Number(row.live));
    assert.equal(row.live + row.archived, BigInt((month + 1) * perMonth));
  }
  await db.query(vacuum);
  const [end] = await db.query(sizes);
  assert.ok(end !== undefined);
  const [open, unpaid, paid] = [0, 1, 2].map((kind) => {
    const kinds = [['initialized', 'paid'], ['expired', 'cancelled'], ['completed']][kind] ?? [];
    return [...allSeeded(made[0] as ManySessions)].filter(({ status }) => kinds.includes(status)).length;
  });
  // What is open stays; unpaid sessions three months and the one that runs; paid ones two years of 365 days.
  const most = months * (open ?? 0) + 4 * (unpaid ?? 0) + 25 * (paid ?? 0);
  assert.ok(end.live <= most, `${end.live} rows of at most ${most}`);
  const grown = (live.at(-1) ?? 0) - (live.at(-2) ?? 0);
  assert.equal(grown, open, 'only what is still open is added');
  assert.ok(end.emails < BigInt(25 * (paid ?? 0) + 25 * (open ?? 0)));
  for (const sessions of made) await checkMonth(sessions);
  t.diagnostic(`live rows by month: ${live.join(' ')}`);
  const kilobytes = (bytes: bigint) => `${bytes / 1024n} KiB`;
  t.diagnostic(
    `${end.live} rows in ${kilobytes(end.live_bytes)}, archive: ${end.archived} rows in ${kilobytes(end.archive_bytes)}`,
  );
});
