import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { type Schema, withSystemScope } from './schema.ts';
import { checkServerVersion, refuseSharedConnections, UnfitDatabase } from './server-check.ts';

/** One file of the schema. */
export interface Migration {
  readonly version: number;
  readonly file: string;
  readonly text: string;
  readonly hash: string;
  /** Programs from before it run and start with it: it only adds. */
  readonly isAdditive: boolean;
  /** It only builds and drops indexes while programs use their tables, which PostgreSQL does outside a transaction alone. */
  readonly isConcurrent: boolean;
}

/** The first line of a migration with which older programs do not work. Others only add. */
const breakingMark = '-- Older programs must stop first.';
/** The first line of a migration that is not one transaction. */
const concurrentMark = '-- Outside a transaction.';

export interface MigrateOptions {
  /** Limits it to these versions, for rows that are older than the program. */
  readonly only?: ReadonlySet<number>;
  /** Called each time that a lock was not free for some seconds, with the seconds so far: that of migrations, or of a table. */
  readonly onWait?: ((seconds: number) => void) | undefined;
  /** How long it waits for a lock, in milliseconds; a quarter of an hour when absent. */
  readonly lockLimitMs?: number;
}

/** Longer than a migration that rewrites a table. */
const defaultLockLimitMs = 900_000;
const lockTellMs = 5_000;
const lockPauseMs = 200;
/**
 * How long a migration may wait for a table: whoever wants the table next waits behind it. Then it begins again, after a
 * pause in which they work.
 */
const tableLockMs = 2_000;
/** PostgreSQL's codes for a lock that was not free in time, and for one that two transactions wanted of each other. */
const lockCodes: ReadonlySet<string | undefined> = new Set(['55P03', '40P01']);

/** All files of a schema, in order. */
export async function readMigrations({
  migrations: folder,
}: Pick<Schema, 'migrations'>): Promise<Migration[]> {
  const files = (await readdir(folder)).sort();
  // A silently ignored file is worse than a failed start.
  const misnamed = files.find((name) => !/^\d{4}_[a-z0-9-]+\.sql$/.test(name));
  if (misnamed !== undefined) throw new Error(`migration ${misnamed} must be named as 0001_some-words.sql`);
  const twice = files.find((name, index) => files[index - 1]?.slice(0, 4) === name.slice(0, 4));
  if (twice !== undefined) throw new Error(`migration ${twice} has the number of another`);
  return Promise.all(
    files.map(async (file) => {
      const text = await readFile(new URL(file, folder), 'utf8');
      return {
        version: Number(file.slice(0, 4)),
        file,
        text,
        hash: createHash('sha256').update(text).digest('hex'),
        isAdditive: !text.startsWith(breakingMark),
        isConcurrent: text.startsWith(concurrentMark),
      };
    }),
  );
}

const ledgerOfMigrations = [
  'create table if not exists schema_migrations (version int primary key, hash text not null, applied_at timestamptz not null default now())',
  // What was applied before this column came is known to every program that reads it.
  'alter table schema_migrations add column if not exists is_additive boolean not null default false',
] as const;

/**
 * Brings the schema up to this program's version: numbered files, forward only, under an advisory lock. Each is one transaction,
 * except those that say that they are outside one. Refuses a database in which a newer program has made a change that does not
 * only add, an applied file that has changed since, an old server, a pooler that shares connections, and a connection that the
 * schema refuses.
 */
export async function migrate(
  url: string,
  schema: Schema,
  { only, onWait, lockLimitMs = defaultLockLimitMs }: MigrateOptions = {},
): Promise<{ applied: string[] }> {
  await checkServer(url, schema);
  const client = migrationClient(url, schema);
  await client.connect();
  const applied: string[] = [];
  try {
    // Checked before anything is created.
    await schema.checkConnection?.(client);
    // Replicas that start together migrate one after the other.
    const waiting = { lockLimitMs, onWait };
    await takeLock(client, schema, waiting);
    for (const text of ledgerOfMigrations) await client.query(text);
    for (const file of await findPending(client, schema)) {
      if (only?.has(file.version) === false) continue;
      if (file.isConcurrent) await buildIndexes(client, file);
      else await runInTransaction(client, file, waiting);
      applied.push(file.file);
    }
    if (schema.afterMigrations !== undefined) await client.query(schema.afterMigrations);
  } finally {
    await client.end();
  }
  return { applied };
}

/**
 * The migrations that the database lacks, in order; changes nothing. Refuses a database in which a newer program has made
 * a change that does not only add, or whose applied files have changed. A database that was never migrated lacks all of them.
 */
export async function pendingMigrations(url: string, schema: Schema): Promise<string[]> {
  const client = migrationClient(url, schema);
  await client.connect();
  try {
    const found = await client.query<{ name: string | null }>(
      "select to_regclass('schema_migrations') as name",
    );
    const isNew = found.rows[0]?.name == null;
    const pending = isNew ? await readMigrations(schema) : await findPending(client, schema);
    return pending.map(({ file }) => file);
  } finally {
    await client.end();
  }
}

/**
 * Throws an UnfitDatabase for a server that the schema does not run on, and for a pooler that shares connections. Takes no
 * lock and changes nothing.
 */
export async function checkServer(url: string, schema: Schema): Promise<void> {
  const [client, other] = [migrationClient(url, schema), migrationClient(url, schema)];
  try {
    await client.connect();
    if (schema.leastServerVersion !== undefined) await checkServerVersion(client, schema.leastServerVersion);
    await other.connect();
    await refuseSharedConnections(client, other);
  } finally {
    await Promise.all([client.end(), other.end()]);
  }
}

interface Waiting {
  readonly lockLimitMs: number;
  readonly onWait: MigrateOptions['onWait'];
}

/**
 * Asks again and again instead of waiting in PostgreSQL: an index that is built concurrently waits for every statement that
 * is older, and would wait for those that wait for this lock.
 */
async function takeLock(client: pg.Client, schema: Schema, { lockLimitMs, onWait }: Waiting): Promise<void> {
  const start = performance.now();
  let told = start;
  for (;;) {
    const { rows } = await client.query<{ taken: boolean }>(`select ${schema.migrationLock} as taken`);
    if (rows[0]?.taken === true) return;
    const now = performance.now();
    const seconds = Math.round((now - start) / 1_000);
    if (now - start >= lockLimitMs)
      throw new UnfitDatabase(
        `another process has held the lock of migrations for ${seconds} seconds: wait for it, or end its connection (select pid from pg_locks where locktype = 'advisory')`,
      );
    if (now - told >= lockTellMs) {
      told = now;
      onWait?.(seconds);
    }
    await sleep(lockPauseMs);
  }
}

async function runInTransaction(
  client: pg.Client,
  file: Migration,
  { lockLimitMs, onWait }: Waiting,
): Promise<void> {
  const start = performance.now();
  for (;;) {
    try {
      await client.query('begin');
      await client.query(`set local lock_timeout = ${tableLockMs}`);
      await client.query(file.text);
      await record(client, file);
      await client.query('commit');
      return;
    } catch (error) {
      const waitedMs = performance.now() - start;
      const isLocked = error instanceof pg.DatabaseError && lockCodes.has(error.code);
      if (!isLocked || waitedMs >= lockLimitMs) throw error;
      await client.query('rollback');
      onWait?.(Math.round(waitedMs / 1_000));
    }
    await sleep(tableLockMs);
  }
}

function record(client: pg.Client, { version, hash, isAdditive }: Migration): Promise<unknown> {
  const text = 'insert into schema_migrations (version, hash, is_additive) values ($1, $2, $3)';
  return client.query(text, [version, hash, isAdditive]);
}

// A build with `if not exists` would keep an index that is not valid.
const buildOrDrop =
  /^(?:create (?:unique )?index concurrently|(drop) index concurrently if exists) (?!(?:if|on)\b)(\w+)\b/;

/**
 * Runs a migration of indexes statement by statement. A build that failed, or ended with its process, leaves an index that is
 * not valid: it is dropped and built again. A valid one is from a run that ended before it was recorded.
 */
async function buildIndexes(client: pg.Client, file: Migration): Promise<void> {
  const statements = file.text
    .replace(/^--.*$/gm, '')
    .split(';')
    .map((text) => text.trim())
    .filter((text) => text !== '');
  for (const text of statements) {
    const [, drop, name] = buildOrDrop.exec(text) ?? [];
    if (name === undefined)
      throw new Error(
        `migration ${file.file} is outside a transaction: there may only be "create index concurrently" with a name and "drop index concurrently if exists"`,
      );
    if (drop === undefined) {
      const found = await client.query<{ indisvalid: boolean }>(
        'select indisvalid from pg_index where indexrelid = to_regclass($1)',
        [name],
      );
      if (found.rows[0]?.indisvalid === true) continue;
      await client.query(`drop index concurrently if exists ${name}`);
    }
    await client.query(text);
  }
  await record(client, file);
}

function migrationClient(url: string, schema: Schema): pg.Client {
  return new pg.Client({
    connectionString: withSystemScope(url, schema),
    application_name: `${schema.applicationName}-migrate`,
  });
}

async function findPending(client: pg.Client, schema: Schema): Promise<Migration[]> {
  const files = await readMigrations(schema);
  // A database may be from before the column.
  const { rows } = await client.query<{ version: number; hash: string; is_additive: boolean }>(
    `select version, hash, coalesce((to_jsonb(m) ->> 'is_additive')::boolean, false) as is_additive
     from schema_migrations m`,
  );
  const newest = files.at(-1)?.version ?? 0;
  for (const row of rows) {
    const file = files.find((candidate) => candidate.version === row.version);
    if (file === undefined && row.is_additive && row.version > newest) continue;
    if (file === undefined) {
      throw new Error(
        `the database has schema version ${row.version}, newer than this program's ${newest}: start a newer program`,
      );
    }
    if (file.hash !== row.hash)
      throw new Error(`migration ${file.file} was changed after it had been applied`);
  }
  const done = new Set(rows.map((row) => row.version));
  return files.filter((candidate) => !done.has(candidate.version));
}
