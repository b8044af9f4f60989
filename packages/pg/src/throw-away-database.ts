import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

/** A separate database for a test. */
export interface ThrowAwayDatabase {
  readonly url: string;
  close(): Promise<void>;
}

/** PostgreSQL's codes while the database is in use: we may not end its connections, or they took too long to end. */
const inUse: readonly (string | undefined)[] = ['42501', '55006'];
const pauseMs = 100;
const maxTries = 300;

/**
 * Makes a database with a random name on a server, for tests: empty, or a copy of `template`. Its `close` drops it
 * and its remaining connections.
 */
export async function throwAwayDatabase(serverUrl: string, template?: string): Promise<ThrowAwayDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  // Copied as files, a template takes half the processor time that it takes through the log.
  const copied = template === undefined ? '' : ` template ${template} strategy file_copy`;
  await executeAlone(serverUrl, `create database ${name}${copied}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    close: () => executeAlone(serverUrl, `drop database if exists ${name} with (force)`),
  };
}

/**
 * Runs one statement about a database once that is idle. PostgreSQL waits five seconds for connections that it ends,
 * and a busy machine may need longer. Only a superuser may end the server's own vacuum of a table.
 */
async function executeAlone(serverUrl: string, text: string): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    const client = new pg.Client({ connectionString: serverUrl });
    await client.connect();
    try {
      await client.query(text);
      return;
    } catch (error) {
      const isInUse = error instanceof pg.DatabaseError && inUse.includes(error.code);
      if (!isInUse || tries === maxTries) throw error;
    } finally {
      await client.end();
    }
    await sleep(pauseMs);
  }
}
