import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { openDatabase, statement, type ThrowAwayDatabase, withSystemScope } from '@florin/pg';
import pg from 'pg';
import { schema } from '#db/schema.ts';
import { findScopeProblems } from '#db/scope-check.ts';
import { book } from '#ledger/entry.ts';
import { sealEntries, verifyLedger } from '#ledger/seal.ts';
import { addMember } from '#members/membership.ts';
import { createMerchant } from '#merchants/merchant.ts';
import { systemClock } from '#outside/clock.ts';
import { systemRandom } from '#outside/random.ts';
import { archiveSessions } from '#sessions/archive.ts';
import { emptyDatabase, type TestDatabase, testDatabase } from '../../test/harness/database.ts';
import { deepOnly } from '../../test/harness/deep-only.ts';
import { addUser } from '../../test/harness/member-fixture.ts';
import { backUp } from './backup.ts';
import { restore } from './restore.ts';

let database: TestDatabase;
const now = new Date('2026-03-04T05:06:07Z');
before(async () => {
  database = await testDatabase();
});
after(() => database.close());

async function archiveOf(url: string): Promise<Buffer> {
  const parts: Buffer[] = [];
  await backUp(url, {
    now,
    async write(bytes) {
      parts.push(bytes);
    },
  });
  return Buffer.concat(parts);
}

/** Pieces whose borders match no frame. */
async function* piecesOf(archive: Buffer, size = 777): AsyncGenerator<Buffer> {
  for (let start = 0; start < archive.length; start += size) yield archive.subarray(start, start + size);
}

/** Every row of every table as JSON text, except those that a restore writes itself. */
async function contentOf(url: string): Promise<Record<string, string[]>> {
  const client = new pg.Client({ connectionString: withSystemScope(url, schema) });
  await client.connect();
  try {
    const tables = await client.query<{ name: string }>(
      `select oid::regclass::text as name from pg_class
       where relnamespace in ('public'::regnamespace, 'sign_in'::regnamespace) and relkind = 'r'
         and relname not in ('restorations', 'schema_migrations') order by 1`,
    );
    const content: Record<string, string[]> = {};
    for (const { name } of tables.rows) {
      const rows = await client.query<{ row: string }>(
        `select to_jsonb(t)::text as row from only ${name} t order by 1`,
      );
      content[name] = rows.rows.map(({ row }) => row);
    }
    return content;
  } finally {
    await client.end();
  }
}

async function withEmpty(work: (empty: ThrowAwayDatabase) => Promise<void>): Promise<void> {
  const empty = await emptyDatabase();
  try {
    await work(empty);
  } finally {
    await empty.close();
  }
}

/** Gives names tabs and line ends, which COPY must escape, like the backslashes that they have. */
const breakNames = statement({
  name: 'test_break_names',
  text: `update merchants set merchant_name = E'Tea\\tand\\n' || merchant_name`,
});

// The archive of sessions inherits from them: a copy of both must not have its rows twice.
const addSessions = statement({
  name: 'restore_test_sessions',
  text: `insert into sessions (session_id, merchant_id, session_type, business_id, business_type, client_code, account_id,
     account_version, recipient, settlement_token, fee_model, amount, line_items, payer_email_required, success_url, metadata,
     meta_data, salt, channel_id, expiration_time, status, created_at, updated_at)
   select 'sess_' || status, 'mer_1', 'chk', '', '', '', 'acc_1', 'acv_1', '0x00', 'ethereum::usdc', 1, 1, '[]', false, '', '{}',
     '', '', '', now(), status, '2020-01-01', '2020-01-01'
   from unnest(array['initialized', 'expired']) as status`,
});

async function fillSource(): Promise<void> {
  const { db } = database;
  await db.query(addSessions);
  const policy = { unpaidAfterDays: 90, paidAfterDays: 730 };
  assert.equal(await db.transaction((transaction) => archiveSessions(transaction, policy, now, 10)), 1);
  const deps = { clock: systemClock, random: systemRandom };
  const merchantName = '\\N coffee — 茶';
  for (let index = 0; index < 30; index += 1)
    await db.transaction((transaction) =>
      createMerchant(transaction, deps, { merchantName: `${merchantName} ${index}` }),
    );
  // Names of before were free to have line breaks.
  await db.query(breakNames);
  const userId = await addUser(db);
  await db.transaction(async (transaction) => {
    const { merchantId } = await createMerchant(transaction, deps, { merchantName });
    await addMember(transaction, deps, { merchantId, userId, role: 'owner' });
  });
  const postings = [
    { account: 'gateway:ethereum', asset: 'ethereum::usdc', amount: 5n },
    { account: 'fees:due', asset: 'ethereum::usdc', amount: -5n },
  ];
  const entry = { kind: 'payment', chainId: 1, txHash: '0xaa', at: now, postings } as const;
  for (let index = 0; index < 3; index += 1)
    await db.transaction((transaction) => book(transaction, { ...entry, orderId: `order-${index}` }));
  await db.transaction((transaction) => sealEntries(transaction, now));
}

test('a restored database has every row and row-level security policy of the backup, and continues its numbering', async () => {
  await fillSource();
  const archive = await archiveOf(database.url);
  await withEmpty(async ({ url }) => {
    const summary = await restore(url, { now, source: piecesOf(archive) });
    assert.equal(summary.tables.find(({ table }) => table === 'merchants')?.rows, 31);
    assert.equal(summary.tables.find(({ table }) => table === 'sign_in.user')?.rows, 1);
    assert.deepEqual(summary.migrated, []);
    assert.deepEqual(await contentOf(url), await contentOf(database.url));
    const db = openDatabase({ schema, url });
    try {
      assert.deepEqual(await findScopeProblems(db), []);
      assert.deepEqual(await verifyLedger(db), await verifyLedger(database.db));
      const unbalanced = {
        kind: 'payment',
        orderId: 'unbalanced',
        chainId: 1,
        txHash: '0x',
        at: now,
        postings: [{ account: 'fees', asset: 'x', amount: 1n }],
      } as const;
      await assert.rejects(
        db.transaction((transaction) => book(transaction, unbalanced)),
        /does not sum to zero/,
      );
      await db.transaction((transaction) => book(transaction, { ...unbalanced, postings: [] }));
    } finally {
      await db.close();
    }
  });
});

test('a backup shows one moment, despite concurrent writes', async () => {
  const { db } = database;
  const before = await contentOf(database.url);
  const parts: Buffer[] = [];
  await backUp(database.url, {
    now,
    async write(bytes) {
      // After the header the snapshot is fixed: none of these rows may be included.
      if (parts.length === 1)
        await db.transaction((transaction) =>
          createMerchant(transaction, { clock: systemClock, random: systemRandom }, { merchantName: 'Late' }),
        );
      parts.push(bytes);
    },
  });
  await withEmpty(async ({ url }) => {
    await restore(url, { now, source: piecesOf(Buffer.concat(parts)) });
    assert.deepEqual((await contentOf(url))['merchants'], before['merchants']);
  });
});

test('a damaged or truncated archive, or one of a newer version, restores nothing', deepOnly, async () => {
  const archive = await archiveOf(database.url);
  const flipped = Buffer.from(archive);
  const place = flipped.indexOf('coffee');
  assert.ok(place > 0);
  flipped.write('toffee', place);
  const renamed = (from: RegExp, to: string) => {
    const length = archive.readUInt32BE(1);
    const header = Buffer.from(archive.toString('utf8', 5, 5 + length).replace(from, to), 'utf8');
    const head = Buffer.alloc(5);
    head.write('H', 0, 'latin1');
    head.writeUInt32BE(header.length, 1);
    return Buffer.concat([head, header, archive.subarray(5 + length)]);
  };
  const cases: readonly [string, Buffer, RegExp][] = [
    ['a changed row', flipped, /table merchants is not what was written/],
    ['the end missing', archive.subarray(0, archive.length - 10), /truncated/],
    ['the middle missing', archive.subarray(0, archive.length >> 1), /truncated/],
    ['another header', renamed(/"takenAt":"2026/, '"takenAt":"2025'), /its hash differs/],
    ['a newer archive', renamed(/"version":1,/, '"version":2,'), /newer than this program's 1/],
    [
      'a newer schema',
      renamed(/"version":105,/, '"version":9105,'),
      /schema version 9105, which this program lacks/,
    ],
    ['something else', randomBytes(5_000), /not an archive/],
  ];
  for (const [name, bytes, expected] of cases) {
    await withEmpty(async ({ url }) => {
      await assert.rejects(restore(url, { now, source: piecesOf(bytes) }), expected, name);
      const client = new pg.Client({ connectionString: withSystemScope(url, schema) });
      await client.connect();
      try {
        const { rows } = await client.query<{ name: string | null }>(
          "select to_regclass('merchants') as name",
        );
        if (rows[0]?.name == null) return;
        assert.equal((await client.query('select from merchants')).rowCount, 0, name);
      } finally {
        await client.end();
      }
    });
  }
});

test('a restore refuses a database that is not empty', async () => {
  const archive = await archiveOf(database.url);
  const before = await contentOf(database.url);
  await assert.rejects(restore(database.url, { now, source: piecesOf(archive) }), /not empty/);
  assert.deepEqual(await contentOf(database.url), before);
});

test('a restore that loses its connection fails and leaves no rows', async () => {
  const archive = await archiveOf(database.url);
  await withEmpty(async ({ url }) => {
    const name = new URL(url).pathname.slice(1);
    // The restore connects once it has the header, and asks for more when it fills the tables.
    const filling = 5 + archive.readUInt32BE(1) + 100;
    async function* interrupted() {
      yield archive.subarray(0, filling);
      // The restore's own role: another sees neither the names of its connections nor ends them.
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      const ended = await client.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = $1 and application_name = 'florin-restore'`,
        [name],
      );
      assert.equal(ended.rowCount, 1);
      await client.end();
      yield archive.subarray(filling);
    }
    await assert.rejects(restore(url, { now, source: interrupted() }));
    const client = new pg.Client({ connectionString: withSystemScope(url, schema) });
    await client.connect();
    assert.equal((await client.query('select from merchants')).rowCount, 0);
    await client.end();
  });
});

test('a role that may not create databases is told to create the missing one first', async () => {
  const archive = await archiveOf(database.url);
  const role = `plain_${randomBytes(6).toString('hex')}`;
  const superuser = new pg.Client({
    connectionString: database.url.replace('//florin_service:', '//florin:'),
  });
  await superuser.connect();
  try {
    await superuser.query(`create role ${role} login password 'plain'`);
    const url = new URL(database.url);
    Object.assign(url, { username: role, password: 'plain', pathname: `/${role}` });
    await assert.rejects(restore(url.href, { now, source: piecesOf(archive) }), {
      name: 'ArchiveError',
      message: `the role may not create the missing database ${role}: create it first`,
    });
  } finally {
    await superuser.query(`drop role if exists ${role}`);
    await superuser.end();
  }
});
