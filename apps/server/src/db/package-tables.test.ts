import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { emptyDatabase, testDatabase } from '../../test/harness/database.ts';

interface Described {
  /** Found from the package's entry. */
  readonly schema: URL;
  readonly tables: readonly string[];
  /** Columns, indexes and constraints that only the service has. */
  readonly own: readonly string[];
}

const described: Readonly<Record<string, Described>> = {
  outbox: {
    schema: new URL('../schema.sql', import.meta.resolve('@florin/outbox')),
    tables: ['webhooks', 'events', 'deliveries', 'delivery_attempts', 'delivery_sweeps'],
    // Lists with totals, and merchants.
    own: [
      'events_by_type',
      'events_readable_by_merchant',
      'webhooks_merchant_id_fkey',
      'deliveries_merchant_id_fkey',
    ],
  },
  evm: {
    schema: new URL('../schema.sql', import.meta.resolve('@florin/evm')),
    tables: [
      ...['chain_cursors', 'chain_blocks', 'chain_events', 'dropped_events'],
      ...['wallet_nonces', 'sent_transactions', 'sent_attempts'],
    ],
    // Reconciliation stops settlement on a chain, and the service names its purposes.
    own: ['stopped_reason', 'sent_transactions_purpose_check'],
  },
};

/** Columns, indexes, constraints and options of the tables, as PostgreSQL prints them. */
async function describe(url: string, { tables, own }: Described): Promise<string[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string; line: string }>(
      `select column_name as name, concat_ws(' ', table_name, column_name, data_type, is_nullable, column_default, is_identity) as line
       from information_schema.columns where table_schema = 'public' and table_name = any ($1)
       union all select indexname, indexdef from pg_indexes where schemaname = 'public' and tablename = any ($1)
       union all select conname, concat_ws(' ', conrelid::regclass, conname, pg_get_constraintdef(oid))
       from pg_constraint where conrelid::regclass::text = any ($1) and contype <> 'n'
       union all select relname, concat_ws(' ', relname, reloptions::text) from pg_class
       where relname = any ($1) and relkind = 'r'`,
      [tables],
    );
    return rows
      .filter(({ name }) => !own.includes(name))
      .map(({ line }) => line)
      .sort();
  } finally {
    await client.end();
  }
}

for (const [name, tables] of Object.entries(described)) {
  test(`the migrations create the tables of packages/${name} as its schema.sql states them`, async () => {
    const [migrated, empty] = await Promise.all([testDatabase(), emptyDatabase()]);
    const client = new pg.Client({ connectionString: empty.url });
    try {
      await client.connect();
      await client.query(await readFile(fileURLToPath(tables.schema), 'utf8'));
      await client.end();
      const lines = await describe(empty.url, tables);
      assert.ok(lines.length > 50);
      assert.deepEqual(await describe(migrated.url, tables), lines);
    } finally {
      await Promise.all([migrated.close(), empty.close()]);
    }
  });
}
