import { withSystemScope } from '@florin/pg';
import pg from 'pg';
import { schema } from '#db/schema.ts';

/** One row that a committed transaction inserted, updated or deleted. */
export interface Change {
  readonly table: string;
  readonly operation: string;
  /** The merchant of the row; null when the row has none. */
  readonly merchantId: string | null;
}

// A key's last use belongs to the key and not to the request.
const install = `
  create table test_changes (
    ordinal bigint generated always as identity primary key, table_name text not null, operation text not null,
    merchant_id text
  );
  create function test_note_change() returns trigger language plpgsql as $$
  begin
    if tg_table_name = 'api_keys' and tg_op = 'UPDATE'
      and to_jsonb(new) - 'last_used_at' = to_jsonb(old) - 'last_used_at' then return null; end if;
    insert into test_changes (table_name, operation, merchant_id)
    values (tg_table_name, tg_op,
      coalesce(case when tg_op <> 'DELETE' then to_jsonb(new) end, to_jsonb(old)) ->> 'merchant_id');
    return null;
  end $$;
  do $$
  declare name text;
  begin
    for name in select tablename from pg_tables where schemaname = 'public' and tablename <> 'test_changes' loop
      execute format('create trigger test_note after insert or update or delete on %I
        for each row execute function test_note_change()', name);
    end loop;
  end $$;`;

/**
 * Records every changed row by triggers. This is stricter than checksums, because an update to the same values
 * counts. It is fast enough to run after each request.
 */
export class ChangeJournal {
  readonly #client: pg.Client;
  #seen = '0';

  private constructor(client: pg.Client) {
    this.#client = client;
  }

  static async install(databaseUrl: string): Promise<ChangeJournal> {
    const client = new pg.Client({ connectionString: withSystemScope(databaseUrl, schema) });
    await client.connect();
    await client.query(install);
    // Only the newest changes are read, which the planner cannot know.
    await client.query('set enable_seqscan = off; set enable_bitmapscan = off');
    return new ChangeJournal(client);
  }

  /** The changes committed since the last call. */
  async take(): Promise<Change[]> {
    const { rows } = await this.#client.query<Change & { ordinal: string }>({
      name: 'test_changes_since',
      text: `select ordinal, table_name as "table", operation, merchant_id as "merchantId" from test_changes
             where ordinal > $1 order by ordinal`,
      values: [this.#seen],
    });
    this.#seen = rows.at(-1)?.ordinal ?? this.#seen;
    return rows.map(({ table, operation, merchantId }) => ({ table, operation, merchantId }));
  }

  /** The names of all tables, and the number of rows of each. */
  async tables(): Promise<Record<string, number>> {
    const names = await this.#client.query<{ name: string }>(
      `select tablename as name from pg_tables where schemaname = 'public' and tablename <> 'test_changes' order by 1`,
    );
    const counts: Record<string, number> = {};
    for (const { name } of names.rows) {
      const { rows } = await this.#client.query<{ count: number }>(
        `select count(*)::int as count from ${pg.escapeIdentifier(name)}`,
      );
      counts[name] = rows[0]?.count ?? 0;
    }
    return counts;
  }

  close(): Promise<void> {
    return this.#client.end();
  }
}
