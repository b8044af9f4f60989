import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
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
    migrationLock: 'pg_advisory_lock(4711)',
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
