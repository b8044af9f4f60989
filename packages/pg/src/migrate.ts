import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import pg from 'pg';
import { type Schema, withSystemScope } from './schema.ts';

/** One file of the schema. */
export interface Migration {
  readonly version: number;
  readonly file: string;
  readonly text: string;
  readonly hash: string;
}

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
      };
    }),
  );
}

/**
 * Brings the schema up to this program's version: numbered files, forward only, each in its own transaction, under an
 * advisory lock. Refuses a database that a newer program has migrated, an applied file that has changed since, and a
 * connection that the schema refuses. `only` limits it to those versions, for rows that are older than the program.
 */
export async function migrate(
  url: string,
  schema: Schema,
  only?: ReadonlySet<number>,
): Promise<{ applied: string[] }> {
  const client = migrationClient(url, schema);
  await client.connect();
  const applied: string[] = [];
  try {
    // Checked before anything is created.
    await schema.checkConnection?.(client);
    // Replicas that start together migrate one after the other.
    await client.query(`select ${schema.migrationLock}`);
    await client.query(
      'create table if not exists schema_migrations (version int primary key, hash text not null, applied_at timestamptz not null default now())',
    );
    for (const file of await findPending(client, schema)) {
      if (only?.has(file.version) === false) continue;
      await client.query('begin');
      await client.query(file.text);
      await client.query('insert into schema_migrations (version, hash) values ($1, $2)', [
        file.version,
        file.hash,
      ]);
      await client.query('commit');
      applied.push(file.file);
    }
    if (schema.afterMigrations !== undefined) await client.query(schema.afterMigrations);
  } finally {
    await client.end();
  }
  return { applied };
}

/**
 * The migrations that the database lacks, in order; changes nothing. Refuses a database that a newer program has
 * migrated, or whose applied files have changed. A database that was never migrated lacks all of them.
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

function migrationClient(url: string, schema: Schema): pg.Client {
  return new pg.Client({
    connectionString: withSystemScope(url, schema),
    application_name: `${schema.applicationName}-migrate`,
  });
}

async function findPending(client: pg.Client, schema: Schema): Promise<Migration[]> {
  const files = await readMigrations(schema);
  const { rows } = await client.query<{ version: number; hash: string }>(
    'select version, hash from schema_migrations',
  );
  const newest = files.at(-1)?.version ?? 0;
  for (const row of rows) {
    const file = files.find((candidate) => candidate.version === row.version);
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
