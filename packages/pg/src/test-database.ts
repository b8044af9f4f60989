import { type Database, type DatabaseOptions, openDatabase } from './database.ts';
import { type ThrowAwayDatabase, throwAwayDatabase } from './throw-away-database.ts';

/** A separate empty database with an open connection pool. */
export interface TestDatabase extends ThrowAwayDatabase {
  readonly db: Database;
}

/** Makes and opens an empty database for a test. Close it in an `after` hook. */
export async function openedDatabase(options: Omit<DatabaseOptions, 'url'> = {}): Promise<TestDatabase> {
  const serverUrl = process.env['FLORIN_TEST_POSTGRES'];
  if (serverUrl === undefined) throw new Error('start this test with npm test, which starts PostgreSQL');
  const { url, close } = await throwAwayDatabase(serverUrl);
  const db = openDatabase({ ...options, url });
  return {
    url,
    db,
    async close() {
      await db.close();
      await close();
    },
  };
}
