import { createHash } from 'node:crypto';
import { pendingMigrations, withSystemScope } from '@florin/pg';
import pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { schema } from '#db/schema.ts';
import { type ArchivedCursor, archiveWriter } from './archive.ts';
import { columnsOfTables } from './backup.sql.ts';

/** The content of a backup. */
export interface BackupSummary {
  readonly takenAt: Date;
  readonly sha256: string;
  readonly tables: readonly { readonly table: string; readonly rows: number }[];
}

/**
 * Writes every row of the database, as of one moment, in the archive's frames. Readers and writers continue
 * meanwhile. Values that the database holds encrypted (keys of webhooks) stay encrypted. Refuses a database whose
 * schema is not this program's.
 */
export async function backUp(
  url: string,
  options: { readonly now: Date; readonly write: (bytes: Buffer) => Promise<void> },
): Promise<BackupSummary> {
  const [missing] = await pendingMigrations(url, schema);
  if (missing !== undefined) throw new Error(`the database lacks ${missing}: run florin migrate first`);
  const client = new pg.Client({
    connectionString: withSystemScope(url, schema),
    application_name: 'florin-backup',
  });
  // A lost connection makes the current query fail. Without a listener it would end the process.
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query('begin transaction isolation level repeatable read read only');
    const writer = archiveWriter(options.write);
    const migrations = await client.query<{ version: number; hash: string }>(
      'select version, hash from schema_migrations order by version',
    );
    const cursors = await client.query<ArchivedCursor>(
      `select chain_id::int as "chainId", head_number::text as "headNumber", final_number::text as "finalNumber"
       from chain_cursors order by chain_id`,
    );
    await writer.header({
      takenAt: options.now.toISOString(),
      migrations: migrations.rows,
      cursors: cursors.rows,
    });
    const tables: { table: string; rows: number }[] = [];
    for (const { table, columns } of await readTables(client)) {
      await writer.table({ table, columns });
      const list = columns.map(pg.escapeIdentifier).join(', ');
      // Without the rows of tables that inherit from it: they have an entry of their own.
      const text = `copy (select ${list} from only ${quotedTable(table)}) to stdout`;
      const hash = createHash('sha256');
      const copy = client.query(copyTo(text));
      for await (const chunk of copy as AsyncIterable<Buffer>) {
        hash.update(chunk);
        await writer.rows(chunk);
      }
      await writer.tableEnd({ rows: copy.rowCount, sha256: hash.digest('hex') });
      tables.push({ table, rows: copy.rowCount });
    }
    await client.query('commit');
    return { takenAt: options.now, sha256: await writer.end(), tables };
  } finally {
    await client.end();
  }
}

/** A table's name in SQL; a name with a dot names its schema. */
export function quotedTable(name: string): string {
  return name.split('.').map(pg.escapeIdentifier).join('.');
}

/** A table and its references. */
export interface TableShape {
  readonly table: string;
  /** The columns in order, without those that PostgreSQL computes. */
  readonly columns: readonly string[];
}

/** All tables except the list of migrations, each after the tables that it refers to. */
export async function readTables(client: pg.Client): Promise<readonly TableShape[]> {
  const { rows } = await client.query<{ name: string; columns: string[]; parents: string[] }>(
    columnsOfTables.text,
  );
  const placed: TableShape[] = [];
  const waiting = [...rows];
  while (waiting.length > 0) {
    const index = waiting.findIndex(({ name, parents }) =>
      parents.every((parent) => parent === name || placed.some(({ table }) => table === parent)),
    );
    const [row] = waiting.splice(index, 1);
    if (index < 0 || row === undefined) throw new Error('tables refer to each other in a circle');
    placed.push({ table: row.name, columns: row.columns });
  }
  return placed;
}
