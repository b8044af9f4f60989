import { createHash, type Hash } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import { migrate, readMigrations, withSystemScope } from '@florin/pg';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { schema } from '#db/schema.ts';
import { ArchiveError, type ArchiveReader, openArchive } from './archive.ts';
import { identityColumns, ownTables } from './backup.sql.ts';
import { quotedTable, readTables } from './backup.ts';
import { checkAllChains, stopAllChains } from './timeline.sql.ts';

/** The result of a restore. */
export interface RestoreSummary {
  readonly takenAt: Date;
  readonly sha256: string;
  readonly tables: readonly { readonly table: string; readonly rows: number }[];
  /** Migrations that are newer than the backup. */
  readonly migrated: readonly string[];
}

/**
 * Fills an empty database from an archive, in one transaction: the rows are all there, or none. Creates the database
 * when the server has none of this name. First the schema is brought to the version of the archive's rows, afterwards to this program's. Settlement stays stopped on
 * every chain until books and chain agree again (`reconcile`). Throws an `ArchiveError` for a damaged archive, one of
 * a newer schema, and a database that is not empty.
 */
export async function restore(
  url: string,
  options: { readonly now: Date; readonly source: AsyncIterable<Buffer> },
): Promise<RestoreSummary> {
  const archive = await openArchive(options.source);
  const versions = await schemaOf(archive);
  await createWhenMissing(url);
  const client = new pg.Client({
    connectionString: withSystemScope(url, schema),
    application_name: 'florin-restore',
  });
  client.on('error', () => undefined);
  await client.connect();
  try {
    const found = await client.query<{ tables: string }>(ownTables.text);
    if (Number(found.rows[0]?.tables ?? '0') > 0)
      throw new ArchiveError('the database is not empty: make a new one, and restore into that');
    await migrate(url, schema, { only: versions });
    const tables = await fill(client, archive, options.now);
    const { applied } = await migrate(url, schema);
    await client.query('analyze');
    return { takenAt: new Date(archive.header.takenAt), sha256: archive.sha256(), tables, migrated: applied };
  } finally {
    await client.end();
  }
}

const noSuchDatabase = '3D000';
const notAllowed = '42501';

/** Creates the URL's database when it is missing. Its role owns it. */
async function createWhenMissing(url: string): Promise<void> {
  const target = await tryConnecting(url);
  if (target.failure === undefined) return;
  if (codeOf(target.failure) !== noSuchDatabase) throw target.failure;
  // Every server has the database `postgres` for such statements.
  const server = new URL(url);
  server.pathname = '/postgres';
  const client = new pg.Client({ connectionString: server.href });
  await client.connect();
  try {
    await client.query(`create database ${pg.escapeIdentifier(target.database)}`);
  } catch (error) {
    if (codeOf(error) !== notAllowed) throw error;
    throw new ArchiveError(
      `the role may not create the missing database ${target.database}: create it first`,
    );
  } finally {
    await client.end();
  }
}

async function tryConnecting(url: string): Promise<{ database: string; failure?: unknown }> {
  const client = new pg.Client({ connectionString: url });
  const database = client.database ?? '';
  try {
    await client.connect();
  } catch (failure) {
    return { database, failure };
  }
  await client.end();
  return { database };
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

/** The versions of the archive's schema. This program must know each of them unchanged. */
async function schemaOf({ header }: ArchiveReader): Promise<ReadonlySet<number>> {
  const known = new Map((await readMigrations(schema)).map(({ version, hash }) => [version, hash]));
  for (const { version, hash } of header.migrations) {
    if (!known.has(version))
      throw new ArchiveError(
        `the archive has schema version ${version}, which this program lacks: use a newer program`,
      );
    if (known.get(version) !== hash)
      throw new ArchiveError(`schema version ${version} of the archive is not this program's`);
  }
  return new Set(header.migrations.map(({ version }) => version));
}

interface Filled {
  readonly table: string;
  readonly rows: number;
}

async function fill(client: pg.Client, archive: ArchiveReader, now: Date): Promise<readonly Filled[]> {
  const shapes = await readTables(client);
  await client.query('begin');
  try {
    const forced = await loosen(
      client,
      shapes.map(({ table }) => table),
    );
    const filled: Filled[] = [];
    for (let start = await archive.nextTable(); start !== undefined; start = await archive.nextTable()) {
      const { table, columns } = start;
      const shape = shapes.find((candidate) => candidate.table === table);
      if (shape === undefined || shape.columns.join() !== columns.join())
        throw new ArchiveError(`the archive's table ${table} is not this schema's`);
      const list = columns.map(pg.escapeIdentifier).join(', ');
      const text = `copy ${quotedTable(table)} (${list}) from stdin`;
      const hash = createHash('sha256');
      const copy = client.query(copyFrom(text));
      await pipeline(archive.rows(), hashedBy(hash), copy);
      const { rows, sha256 } = archive.tableEnd();
      if (copy.rowCount !== rows || hash.digest('hex') !== sha256)
        throw new ArchiveError(`the archive is damaged: table ${table} is not what was written`);
      filled.push({ table, rows });
    }
    if (filled.length !== shapes.length) throw new ArchiveError('the archive lacks tables of its schema');
    await moveSequences(client);
    await tighten(
      client,
      shapes.map(({ table }) => table),
      forced,
    );
    await noteRestoration(client, archive, now);
    await client.query('commit');
    return filled;
  } catch (error) {
    // When it fails, the connection is lost, and its transaction with it.
    await client.query('rollback').catch(() => undefined);
    throw error;
  }
}

function hashedBy(hash: Hash) {
  return async function* (source: AsyncIterable<Buffer>) {
    for await (const chunk of source) {
      hash.update(chunk);
      yield chunk;
    }
  };
}

/**
 * Removes the obstacles to copying rows unchanged. Triggers would count and check them a second time, forced policies
 * forbid COPY, and migrations inserted the first rows of a few tables. Returns the tables whose policies were forced.
 * Foreign keys stay.
 */
async function loosen(client: pg.Client, tables: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await client.query<{ name: string }>(
    'select oid::regclass::text as name from pg_class where oid = any ($1::regclass[]) and relforcerowsecurity',
    [tables.map(quotedTable)],
  );
  for (const table of tables.map(quotedTable)) {
    await client.query(`alter table ${table} disable trigger user, no force row level security`);
    const some = await client.query(`select from ${table} limit 1`);
    if (some.rowCount !== 0) await client.query(`delete from ${table}`);
  }
  return new Set(rows.map(({ name }) => name.replaceAll('"', '')));
}

async function tighten(
  client: pg.Client,
  tables: readonly string[],
  forced: ReadonlySet<string>,
): Promise<void> {
  for (const table of tables) {
    const force = forced.has(table) ? ', force row level security' : '';
    await client.query(`alter table ${quotedTable(table)} enable trigger user${force}`);
  }
}

/** Moves the sequences beyond the restored rows. */
async function moveSequences(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ name: string; column_name: string }>(identityColumns.text);
  for (const { name, column_name: column } of rows) {
    await client.query(
      `select setval(pg_get_serial_sequence($1, $2), max(${pg.escapeIdentifier(column)}))
       from ${pg.escapeIdentifier(name)} having max(${pg.escapeIdentifier(column)}) is not null`,
      [pg.escapeIdentifier(name), column],
    );
  }
}

/** Releases every claim and every leadership, and stops settlement until the books have caught up with the chains. */
async function noteRestoration(
  client: pg.Client,
  { header, sha256 }: ArchiveReader,
  now: Date,
): Promise<void> {
  await client.query(
    `insert into restorations (taken_at, restored_at, archive_hash, cursors) values ($1, $2, $3, $4)`,
    [header.takenAt, now, sha256(), JSON.stringify(header.cursors)],
  );
  await client.query(stopAllChains.text);
  await client.query("update chain_cursors set leader_id = ''");
  await client.query(checkAllChains.text, [now]);
  // The next process notes the server that it finds: this restore is noted already.
  await client.query('delete from database_timeline');
  await client.query('update deliveries set claimed_until = null where claimed_until is not null');
}
