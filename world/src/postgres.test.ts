import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { deepOnly } from '@florin/server/testing';
import pg from 'pg';
import { type Postgres, type PostgresOptions, startPostgres } from './postgres.ts';
import { describeProcess, isRunning } from './process.ts';

let folder = '';
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'florin postgres '));
});
after(() => rmSync(folder, { recursive: true, force: true }));

const start = async (t: TestContext, options: PostgresOptions): Promise<Postgres> => {
  const server = await startPostgres(options);
  t.after(() => server.stop());
  return server;
};

const query = async (url: string, text: string): Promise<unknown[]> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<Record<string, unknown>>(text);
    return rows.flatMap((row) => Object.values(row));
  } finally {
    await client.end();
  }
};

test('committed data survives a SIGKILL of Postgres, and a stop leaves no process', {
  timeout: 300_000,
}, async (t) => {
  const dataFolder = join(folder, 'kept');
  const first = await start(t, { dataFolder });
  assert.deepEqual(await query(first.url, "select current_database(), current_setting('fsync')"), [
    'florin',
    'on',
  ]);
  await query(first.url, 'create table kept as select 7 as value');
  process.kill(first.pid, 'SIGKILL');
  assert.deepEqual(await first.exited, { code: null, signal: 'SIGKILL' });

  const second = await start(t, { dataFolder, port: first.port });
  assert.equal(second.url, first.url);
  assert.deepEqual(await query(second.url, 'select value from kept'), [7]);
  await second.stop();
  assert.equal(describeProcess(second.pid), undefined);
  assert.equal(statSync(join(dataFolder, 'password')).mode & 0o777, 0o600);
});

const ownRole = `select r.rolname, r.rolsuper or r.rolbypassrls or r.rolcreaterole, r.rolcreatedb
  from pg_roles r where r.rolname = current_user`;

test('the database belongs to an ordinary role, even if a superuser created it and its tables', {
  timeout: 300_000,
  ...deepOnly,
}, async (t) => {
  const dataFolder = join(folder, 'owned');
  const first = await start(t, { dataFolder, isDurable: false });
  assert.deepEqual(await query(first.url, ownRole), ['florin_service', false, true]);

  // As in data folders older than the role.
  const superuserUrl = first.url.replace('//florin_service:', '//florin:');
  await query(superuserUrl, 'alter database florin owner to florin');
  await query(superuserUrl, 'create table older (number bigint generated always as identity, value int)');
  await query(superuserUrl, 'insert into older (value) values (7)');
  await query(superuserUrl, 'create function older_value() returns int language sql return 7');
  await first.stop();

  const second = await start(t, { dataFolder, isDurable: false });
  await query(second.url, 'alter table older add column more int default older_value()');
  await query(second.url, 'create or replace function older_value() returns int language sql return 8');
  assert.deepEqual(await query(second.url, 'update older set value = 9 returning number, value, more'), [
    '1',
    9,
    7,
  ]);
});

test('a start takes over from a server that was not stopped', {
  timeout: 300_000,
  ...deepOnly,
}, async (t) => {
  const dataFolder = join(folder, 'orphan');
  const lines: string[] = [];
  const orphan = await start(t, { dataFolder, isDurable: false });
  const record = describeProcess(orphan.pid);
  assert.ok(record !== undefined);
  await start(t, { dataFolder, isDurable: false, log: (line) => lines.push(line) });
  assert.equal(isRunning(record), false);
  assert.match(lines.join('\n'), new RegExp(`ends the server ${orphan.pid}`));
});

test('two servers run side by side', { timeout: 300_000, ...deepOnly }, async (t) => {
  const servers = await Promise.all(
    ['left', 'right'].map((name) => start(t, { dataFolder: join(folder, name), isDurable: false })),
  );
  const answers = await Promise.all(
    servers.map(({ url }) => query(url, "select current_setting('port')::int")),
  );
  assert.deepEqual(
    answers.flat(),
    servers.map(({ port }) => port),
  );
});
