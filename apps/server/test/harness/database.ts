import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '@florin/world';
import pg from 'pg';
import { type Database, openDatabase } from '#db/database.ts';
import { migrate } from '#db/migrate.ts';
import { systemClock } from '#outside/clock.ts';

/** A fresh, migrated database of its own, on a throw-away PostgreSQL. */
export interface TestDatabase {
  readonly url: string;
  readonly db: Database;
  close(): Promise<void>;
}

const templateName = 'florin_template';

/** Where the whole run's server is, when the test command has started one for all files. */
function sharedServer(): string | undefined {
  return process.env['FLORIN_TEST_POSTGRES'];
}

async function execute(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}

/** What PostgreSQL says of a database that somebody is connected to: we may not end them, or they took too long to go. */
const inUse: readonly (string | undefined)[] = ['42501', '55006'];
const pauseMs = 100;
const maxTries = 300;

/**
 * Makes, copies or drops a database once nobody uses what it concerns. PostgreSQL waits five seconds for those whom it has
 * told to go, which a busy machine may need longer for; and only a superuser may end the server's own vacuum of a table.
 */
async function executeAlone(serverUrl: string, text: string): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await execute(serverUrl, text);
    } catch (error) {
      const isInUse = error instanceof pg.DatabaseError && inUse.includes(error.code);
      if (!isInUse || tries === maxTries) throw error;
      await systemClock.sleep(pauseMs);
    }
  }
}

/** Drops a database with whoever is still connected to it. */
function drop(serverUrl: string, name: string): Promise<void> {
  return executeAlone(serverUrl, `drop database if exists ${name} with (force)`);
}

function withDatabase(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
}

/** Makes the migrated template that every test database is a copy of. */
export async function prepareTemplate(serverUrl: string): Promise<void> {
  await execute(serverUrl, `create database ${templateName}`);
  await migrate(withDatabase(serverUrl, templateName));
}

/** Starts a PostgreSQL without durability, for tests only, with the template in it. */
export async function startTestPostgres(
  settings: Readonly<Record<string, string>> = {},
): Promise<{ url: string; stop(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'florin-test-postgres-'));
  // Started by root, PostgreSQL runs as another user, who must be able to get here.
  await chmod(folder, 0o755);
  const server = await startPostgres({
    dataFolder: join(folder, 'postgres'),
    isDurable: false,
    mayCreateDatabases: true,
    settings: { max_connections: '300', ...settings },
  });
  await prepareTemplate(server.url);
  return {
    url: server.url,
    async stop() {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Gives the test a database of its own: a copy of the migrated template. Close it in an `after` hook. */
export async function testDatabase(options: { connections?: number } = {}): Promise<TestDatabase> {
  const shared = sharedServer();
  const own = shared === undefined ? await startTestPostgres() : undefined;
  const serverUrl = shared ?? own?.url ?? '';
  const name = `test_${randomBytes(8).toString('hex')}`;
  await executeAlone(serverUrl, `create database ${name} template ${templateName}`);
  const url = withDatabase(serverUrl, name);
  const db = openDatabase({ url, connections: options.connections ?? 10 });
  return {
    url,
    db,
    async close() {
      await db.close();
      await drop(serverUrl, name);
      await own?.stop();
    },
  };
}

/** A database without anything in it, not even a schema. */
export interface EmptyDatabase {
  readonly url: string;
  close(): Promise<void>;
}

/** Gives the test an empty database, as an operator makes one to restore into. */
export async function emptyDatabase(): Promise<EmptyDatabase> {
  const shared = sharedServer();
  const own = shared === undefined ? await startTestPostgres() : undefined;
  const serverUrl = shared ?? own?.url ?? '';
  const name = `test_${randomBytes(8).toString('hex')}`;
  await executeAlone(serverUrl, `create database ${name}`);
  return {
    url: withDatabase(serverUrl, name),
    async close() {
      await drop(serverUrl, name);
      await own?.stop();
    },
  };
}
