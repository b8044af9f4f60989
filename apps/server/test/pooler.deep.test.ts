import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, globSync, writeFileSync } from 'node:fs';
import { chmod, chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { migrate, UnfitDatabase } from '@florin/pg';
import { findFreePort } from '@florin/world';
import pg from 'pg';
import { schema } from '#db/schema.ts';
import { checkDatabase } from '#start/check.ts';

/** Debian's PostgreSQL, the oldest version that is supported. */
const oldest = 15;
const bin = `/usr/lib/postgresql/${oldest}/bin`;
const user = {
  uid: Number(execFileSync('id', ['-u', 'nobody'])),
  gid: Number(execFileSync('id', ['-g', 'nobody'])),
};

let folder = '';
let serverPort = 0;
const running: ChildProcess[] = [];

before(async () => {
  if (!existsSync(bin) || spawnSync('pgbouncer', ['--version']).error !== undefined)
    execFileSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'postgresql', 'pgbouncer'], {
      stdio: 'inherit',
    });
  folder = await mkdtemp(join(tmpdir(), 'florin-pooler-'));
  await chown(folder, user.uid, user.gid);
  await chmod(folder, 0o700);
  serverPort = await findFreePort();
  const data = join(folder, 'data');
  execFileSync(join(bin, 'initdb'), ['-D', data, '-U', 'postgres', '--auth', 'trust', '-E', 'UTF8'], {
    ...user,
    cwd: '/',
  });
  start(join(bin, 'postgres'), [
    ...['-D', data, '-p', String(serverPort), '-c', 'listen_addresses=127.0.0.1'],
    ...['-c', `unix_socket_directories=${folder}`, '-c', 'fsync=off'],
  ]);
  await eventually(() => told('select 1', `postgres://postgres@127.0.0.1:${serverPort}/postgres`));
  const admin = `postgres://postgres@127.0.0.1:${serverPort}/postgres`;
  await told('create role florin login', admin);
  await told('create database florin owner florin', admin);
});
after(async () => {
  for (const child of running.toReversed()) {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGINT');
    await ended;
  }
  await rm(folder, { recursive: true, force: true });
});

function start(program: string, args: readonly string[]): void {
  running.push(spawn(program, args, { ...user, cwd: '/', stdio: 'ignore' }));
}

async function told(text: string, connectionString: string): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 2_000 });
  try {
    await client.connect();
    return await client.query(text);
  } finally {
    await client.end();
  }
}

async function eventually(act: () => Promise<unknown>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await act();
      return;
    } catch (error) {
      if (tries === 200) throw error;
    }
    await sleep(100);
  }
}

const direct = () => `postgres://florin@127.0.0.1:${serverPort}/florin`;

/** A PgBouncer before the server, with the settings of the runbook; returns the database's URL through it. */
async function startBouncer(mode: string): Promise<string> {
  const port = await findFreePort();
  const file = join(folder, `${mode}.ini`);
  const users = join(folder, 'users.txt');
  writeFileSync(users, '"florin" ""\n');
  writeFileSync(
    file,
    [
      '[databases]',
      `florin = host=127.0.0.1 port=${serverPort}`,
      '[pgbouncer]',
      `listen_addr = 127.0.0.1\nlisten_port = ${port}\nunix_socket_dir =`,
      `auth_type = trust\nauth_file = ${users}`,
      `pool_mode = ${mode}`,
      'ignore_startup_parameters = options,statement_timeout,lock_timeout,idle_in_transaction_session_timeout',
    ].join('\n'),
  );
  await chmod(file, 0o644);
  start('pgbouncer', [file]);
  const url = `postgres://florin@127.0.0.1:${port}/florin`;
  await eventually(() => told('select 1', url));
  return url;
}

const locks = async () =>
  (await told("select count(*)::int as held from pg_locks where locktype = 'advisory'", direct())).rows;

test('a pooler that shares connections is refused before a lock is taken, and the next migration runs', async () => {
  const admin = `postgres://postgres@127.0.0.1:${serverPort}/postgres`;
  // With this the scope arrives although the pooler drops the option: only the sharing is left to be found.
  await told("alter role florin in database florin set florin.merchant = '*'", admin);
  for (const mode of ['transaction', 'statement']) {
    const url = await startBouncer(mode);
    await assert.rejects(migrate(url, schema), (error: Error) => {
      // In statement mode a transaction is refused by PgBouncer itself.
      assert.ok(error instanceof UnfitDatabase || mode === 'statement', String(error));
      return true;
    });
    assert.deepEqual(await locks(), [{ held: 0 }], mode);
  }
  await told('alter role florin in database florin reset florin.merchant', admin);
  const files = globSync('apps/server/src/db/migrations/*.sql', {
    cwd: new URL('../../../', import.meta.url),
  });
  const { applied } = await migrate(direct(), schema);
  assert.equal(applied.length, files.length);
  await checkDatabase(direct());
});

test('session pooling works with the scope as a setting of the role, and is refused without it', async () => {
  const admin = `postgres://postgres@127.0.0.1:${serverPort}/postgres`;
  await assert.rejects(checkDatabase(await startBouncer('session')), /did not arrive with the connection/);
  await told("alter role florin in database florin set florin.merchant = '*'", admin);
  // The one before keeps its connections from before the setting.
  const url = await startBouncer('session');
  assert.deepEqual(await migrate(url, schema), { applied: [] });
  await checkDatabase(url);
});
