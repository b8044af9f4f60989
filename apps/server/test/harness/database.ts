import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Database, migrate, openDatabase, type ThrowAwayDatabase, throwAwayDatabase } from '@florin/pg';
import { startPostgres } from '@florin/world';
import pg from 'pg';
import { schema } from '#db/schema.ts';

/** A fresh, migrated database on a throw-away PostgreSQL. */
export interface TestDatabase extends ThrowAwayDatabase {
  readonly db: Database;
}

const templateName = 'florin_template';

/** The server of the whole run, when the test command has started one for all files. */
function sharedServer(): string | undefined {
  return process.env['FLORIN_TEST_POSTGRES'];
}

/** Makes the migrated template from which every test database is copied. */
export async function prepareTemplate(serverUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  try {
    await client.query(`create database ${templateName}`);
  } finally {
    await client.end();
  }
  const url = new URL(serverUrl);
  url.pathname = `/${templateName}`;
  await migrate(url.href, schema);
}

/** Starts a PostgreSQL without durability, for tests only, with the template in it. */
export async function startTestPostgres(
  settings: Readonly<Record<string, string>> = {},
): Promise<{ url: string; stop(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'florin-test-postgres-'));
  // If root starts it, PostgreSQL runs as another user, who must be able to enter this folder.
  await chmod(folder, 0o755);
  const server = await startPostgres({
    dataFolder: join(folder, 'postgres'),
    isDurable: false,
    // The kernel copies a template's files, which takes half the processor time of reading and writing them.
    // Vacuum would visit the hundreds of short-lived databases in turn, each minute.
    settings: {
      max_connections: '300',
      file_copy_method: 'clone',
      autovacuum: 'off',
      // Of a story's statements, planning takes four times what running takes: each is planned once per connection.
      plan_cache_mode: 'force_generic_plan',
      ...settings,
    },
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

/** A database on the run's server, or on a separate server that ends with it. */
async function databaseFrom(template?: string): Promise<ThrowAwayDatabase> {
  const shared = sharedServer();
  const server = shared === undefined ? await startTestPostgres() : undefined;
  const { url, close } = await throwAwayDatabase(shared ?? server?.url ?? '', template);
  return {
    url,
    async close() {
      await close();
      await server?.stop();
    },
  };
}

/** Makes a database for the test: a copy of the migrated template. Close it in an `after` hook. */
export async function testDatabase(options: { connections?: number } = {}): Promise<TestDatabase> {
  const { url, close } = await databaseFrom(templateName);
  const db = openDatabase({ url, schema, connections: options.connections ?? 10 });
  return {
    url,
    db,
    async close() {
      await db.close();
      await close();
    },
  };
}

/** Makes an empty database, as an operator does before a restore. */
export function emptyDatabase(): Promise<ThrowAwayDatabase> {
  return databaseFrom();
}
