import { readFile } from 'node:fs/promises';
import { type Database, openDatabase, type ThrowAwayDatabase, throwAwayDatabase } from '@florin/pg';
import pg from 'pg';

/** A database of its own with the package's tables. */
export interface TestDatabase extends ThrowAwayDatabase {
  readonly db: Database;
}

/** Makes a database on the run's server. Close it in an `after` hook. */
export async function testDatabase(): Promise<TestDatabase> {
  const serverUrl = process.env['FLORIN_TEST_POSTGRES'];
  if (serverUrl === undefined) throw new Error('start this test with npm test, which starts PostgreSQL');
  const { url, close } = await throwAwayDatabase(serverUrl);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(await readFile(new URL('../schema.sql', import.meta.url), 'utf8'));
  await client.end();
  const db = openDatabase({ url });
  return {
    url,
    db,
    async close() {
      await db.close();
      await close();
    },
  };
}
