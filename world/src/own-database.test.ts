import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { migrate } from '@florin/pg';
import { schema } from '@florin/server/operator';
import { deepOnly } from '@florin/server/testing';
import pg from 'pg';
import { WorldHome } from './home.ts';
import { openOwnDatabase } from './own-database.ts';
import { type Postgres, startPostgres } from './postgres.ts';

let folder = '';
let server: Postgres;
/** As the superuser, with a table of another program. */
let serverUrl = '';
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'florin own '));
  server = await startPostgres({ dataFolder: join(folder, 'server'), isDurable: false });
  serverUrl = server.url.replace('//florin_service:', '//florin:');
  await query(serverUrl, 'create table theirs as select 7 as value');
});
after(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

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

const makeHome = (name: string): WorldHome => new WorldHome(join(folder, name));
const databases = 'select datname from pg_database where not datistemplate order by datname';
const refuse = (options: Parameters<typeof openOwnDatabase>[0], message: RegExp): Promise<void> =>
  assert.rejects(openOwnDatabase(options), { name: 'UnfitDatabase', message });

test('a world gets a database and an ordinary role on a server, keeps them without the URL, and empties them alone', async () => {
  const home = makeHome('kept');
  const url = await openOwnDatabase({ home, serverUrl });
  const name = new URL(url).username;
  assert.match(name, /^florin_world_[0-9a-f]{16}$/);
  const [role, above, locale, zone] = await query(
    url,
    `select current_user, r.rolsuper or r.rolbypassrls or r.rolcreaterole or r.rolreplication,
       d.datlocale, current_setting('timezone')
     from pg_roles r, pg_database d where r.rolname = current_user and d.datname = current_database()`,
  );
  assert.deepEqual([role, above, locale, zone], [name, false, 'C.UTF-8', 'UTC']);
  await migrate(url, schema);

  assert.equal(await openOwnDatabase({ home, serverUrl: undefined }), url);
  assert.deepEqual(await query(url, 'select count(*)::int from merchants'), [0]);

  home.clear();
  assert.equal(await openOwnDatabase({ home, serverUrl }), url);
  assert.deepEqual(
    await query(url, "select count(*)::int from pg_class where relnamespace = 'public'::regnamespace"),
    [0],
  );
  await migrate(url, schema);
  assert.deepEqual(await query(serverUrl, 'select value from theirs'), [7]);
  assert.deepEqual(await query(serverUrl, databases), ['florin', name, 'postgres']);
});

test('an interrupted first start is continued with the same database', deepOnly, async () => {
  const home = makeHome('interrupted');
  const url = await openOwnDatabase({ home, serverUrl });
  await query(url, 'create table half (value int)');
  home.writeDatabase({ url, state: 'planned' });
  await refuse({ home, serverUrl: undefined }, /^This world's database was not created/);
  assert.equal(await openOwnDatabase({ home, serverUrl }), url);
  assert.deepEqual(await query(url, "select to_regclass('half')"), [null]);
});

test(
  'a role that may create roles and databases is enough, and one that may not is refused',
  deepOnly,
  async () => {
    const asRole = (name: string): string => serverUrl.replace(/\/\/florin:[^@]*@/, `//${name}:secret@`);
    await query(serverUrl, "create role maker login createrole createdb password 'secret'");
    await query(serverUrl, "create role user_only login createdb password 'secret'");
    const url = await openOwnDatabase({ home: makeHome('maker'), serverUrl: asRole('maker') });
    await migrate(url, schema);
    const before = await query(serverUrl, databases);
    const home = makeHome('user only');
    await refuse(
      { home, serverUrl: asRole('user_only') },
      /^DATABASE_URL \(127\.0\.0\.1:\d+\): the role user_only may not create/,
    );
    await refuse(
      { home, serverUrl: asRole('stranger') },
      /password authentication failed for user "stranger"/,
    );
    assert.deepEqual(await query(serverUrl, databases), before);
  },
);

test('a server that does not fit is refused in one sentence, and a home with its data elsewhere too', async () => {
  const home = makeHome('refused');
  const older = { ...schema, leastServerVersion: 99 };
  await refuse(
    { home, serverUrl, schema: older },
    /^DATABASE_URL .* at least version 99 is needed; upgrade the server\.$/,
  );
  await refuse({ home, serverUrl: 'mysql://localhost/x' }, /^DATABASE_URL is not like postgres:/);
  await refuse({ home, serverUrl: 'postgres:///florin' }, /^DATABASE_URL is not like postgres:/);
  await refuse(
    { home, serverUrl: 'postgres://localhost:1/florin' },
    /^DATABASE_URL: no PostgreSQL answers at localhost:1 \(ECONNREFUSED\)\.$/,
  );
  mkdirSync(home.path('postgres'));
  await refuse({ home, serverUrl }, /^This world has a PostgreSQL of its own/);
  const kept = makeHome('elsewhere');
  await openOwnDatabase({ home: kept, serverUrl });
  const other = serverUrl.replace(String(server.port), '1');
  await refuse(
    { home: kept, serverUrl: other },
    /^This world has its data on 127\.0\.0\.1:\d+: start it without DATABASE_URL/,
  );
});
