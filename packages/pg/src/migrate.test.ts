import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { migrate, pendingMigrations } from './migrate.ts';
import type { Schema } from './schema.ts';
import { UnfitDatabase } from './server-check.ts';
import { openedDatabase, type TestDatabase } from './test-database.ts';

let database: TestDatabase;
let folder = '';
let schema: Schema;

before(async () => {
  database = await openedDatabase();
  folder = await mkdtemp(join(tmpdir(), 'florin-migrate-'));
  await writeFile(join(folder, '0001_pots.sql'), 'create table pots (pot_id int primary key);');
  schema = {
    applicationName: 'pots',
    migrations: pathToFileURL(`${folder}/`),
    migrationLock: 'pg_try_advisory_lock(4711)',
  };
});
after(async () => {
  await database.close();
  await rm(folder, { recursive: true, force: true });
});

/** A connection of its own for one statement. */
async function tell(text: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query(text);
  return client;
}

test('a server that is older than the schema needs is refused before anything is created', async () => {
  const old = migrate(database.url, { ...schema, leastServerVersion: 99 });
  await assert.rejects(old, (error: Error) => {
    assert.ok(error instanceof UnfitDatabase);
    return /^the database is PostgreSQL \d+.*: at least version 99 is needed; upgrade the server$/.test(
      error.message,
    );
  });
  const client = await tell("select 1 / (to_regclass('schema_migrations') is null)::int");
  await client.end();
});

test('a program starts on what a newer one has added, and not on another change of it', async (t) => {
  const own = await openedDatabase();
  t.after(() => own.close());
  const newer = await mkdtemp(join(tmpdir(), 'florin-newer-'));
  t.after(() => rm(newer, { recursive: true, force: true }));
  const newSchema = { ...schema, migrations: pathToFileURL(`${newer}/`) };
  await writeFile(join(newer, '0001_pots.sql'), 'create table pots (pot_id int primary key);');
  await writeFile(join(newer, '0002_lids.sql'), 'create table lids (lid_id int primary key);');
  assert.deepEqual(await migrate(own.url, newSchema), { applied: ['0001_pots.sql', '0002_lids.sql'] });
  assert.deepEqual(await migrate(own.url, schema), { applied: [] });
  assert.deepEqual(await pendingMigrations(own.url, schema), []);
  const breaking = '-- Older programs must stop first.\nalter table pots rename to pans;';
  await writeFile(join(newer, '0003_pans.sql'), breaking);
  assert.deepEqual(await migrate(own.url, newSchema), { applied: ['0003_pans.sql'] });
  await assert.rejects(migrate(own.url, schema), /schema version 3, newer than this program's 1/);
  assert.deepEqual(await migrate(own.url, newSchema), { applied: [] });
});

test('a lock that stays taken ends the wait with a sentence, after it was said that it waits', async () => {
  const holder = await tell('select pg_advisory_lock(4711)');
  const said: number[] = [];
  const options = { lockLimitMs: 300, onWait: (seconds: number) => said.push(seconds) };
  await assert.rejects(
    migrate(database.url, schema, options),
    /another process has held the lock of migrations/,
  );
  const waiting = migrate(database.url, schema, { onWait: options.onWait });
  await holder.end();
  assert.deepEqual(await waiting, { applied: ['0001_pots.sql'] });
});

/** A database and a folder of migrations of its own. */
async function ownSchema(t: TestContext, files: Readonly<Record<string, string>>) {
  const own = await openedDatabase();
  const place = await mkdtemp(join(tmpdir(), 'florin-own-'));
  const client = new pg.Client({ connectionString: own.url });
  await client.connect();
  t.after(async () => {
    await client.end();
    await own.close();
    await rm(place, { recursive: true, force: true });
  });
  const add = async (more: Readonly<Record<string, string>>) => {
    for (const [name, text] of Object.entries(more)) await writeFile(join(place, name), text);
  };
  await add(files);
  return { url: own.url, add, client, schema: { ...schema, migrations: pathToFileURL(`${place}/`) } };
}

const pots =
  'create table pots (pot_id int primary key, lid text); insert into pots values (1, $$a$$), (2, $$a$$);';
const build =
  '-- Outside a transaction.\n-- Lids by name.\ncreate unique index concurrently pots_by_lid on pots (lid);\n';

test('an index is built while others use its table and wait for the lock; one that failed is built again', async (t) => {
  const { url, add, client, schema: own } = await ownSchema(t, { '0001_pots.sql': pots });
  await migrate(url, own);
  await add({ '0002_lids.sql': build });
  await assert.rejects(migrate(url, own), /could not create unique index "pots_by_lid"/);
  const indexes = async () =>
    (await client.query("select indisvalid from pg_index where indexrelid = to_regclass('pots_by_lid')"))
      .rows;
  assert.deepEqual(await indexes(), [{ indisvalid: false }]);
  await client.query('begin');
  await client.query('update pots set lid = $$b$$ where pot_id = 2');
  const both = [migrate(url, own), migrate(url, own)];
  await tell('select pg_sleep(0.5)').then((other) => other.end());
  await client.query('update pots set lid = $$c$$ where pot_id = 2');
  await client.query('commit');
  assert.deepEqual(
    (await Promise.all(both)).flatMap(({ applied }) => applied),
    ['0002_lids.sql'],
  );
  assert.deepEqual(await indexes(), [{ indisvalid: true }]);
  // As if the process had ended before the record.
  await client.query('delete from schema_migrations where version = 2');
  assert.deepEqual(await migrate(url, own), { applied: ['0002_lids.sql'] });
  await add({ '0003_more.sql': '-- Outside a transaction.\ninsert into pots values (3, $$d$$);' });
  await assert.rejects(migrate(url, own), /0003_more.sql is outside a transaction: there may only be/);
  for (const start of ['if not exists pots_by_id on', 'on']) {
    const text = `-- Outside a transaction.\ncreate index concurrently ${start} pots (pot_id);`;
    await add({ '0003_more.sql': text });
    await assert.rejects(migrate(url, own), /0003_more.sql is outside a transaction: there may only be/);
  }
});

test('a migration that waits for a table lets others use it, and says that it waits', async (t) => {
  const { url, add, client, schema: own } = await ownSchema(t, { '0001_pots.sql': pots });
  await migrate(url, own);
  await add({ '0002_lids.sql': 'alter table pots add column weight int;' });
  await client.query('begin');
  await client.query('select from pots');
  const { promise: waited, resolve: wait } = Promise.withResolvers<number>();
  const migrating = migrate(url, own, { onWait: wait });
  await waited;
  const other = new pg.Client({ connectionString: url });
  await other.connect();
  await other.query('select from pots');
  await other.end();
  await client.query('commit');
  assert.deepEqual(await migrating, { applied: ['0002_lids.sql'] });
  await client.query('begin');
  await client.query('select from pots');
  await add({ '0003_weights.sql': 'alter table pots drop column weight;' });
  await assert.rejects(migrate(url, own, { lockLimitMs: 100 }), /lock timeout/);
  await client.query('rollback');
});
