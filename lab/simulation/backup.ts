import type { Connections } from './connections.ts';

/** The database at one moment: the rows of each table as JSON text, and the positions of its sequences. */
export interface Backup {
  readonly rows: ReadonlyMap<string, string>;
  readonly sequences: readonly { readonly name: string; readonly value: string | null }[];
}

/** Empties, copies and restores the database of a simulation. */
export class Tables {
  readonly #connections: Connections;
  /** Parents before their children. */
  readonly #names: readonly string[];
  /** The columns of each table, without those that PostgreSQL computes. */
  readonly #columns: ReadonlyMap<string, string>;
  readonly #withTriggers: readonly string[];
  #migrated: Backup = { rows: new Map(), sequences: [] };

  private constructor(
    connections: Connections,
    names: readonly string[],
    columns: ReadonlyMap<string, string>,
    withTriggers: readonly string[],
  ) {
    this.#connections = connections;
    this.#names = names;
    this.#columns = columns;
    this.#withTriggers = withTriggers;
  }

  /** Reads the list of tables, and allows deletes of what is kept in production: between histories, all is discarded. */
  static async of(connections: Connections): Promise<Tables> {
    const { observer } = connections;
    const guards = await observer.query<{ trigger: string; name: string }>(
      `select tgname as trigger, tgrelid::regclass::text as name from pg_trigger
       where tgfoid in ('ledger_append_only'::regproc, 'audit_append_only'::regproc, 'session_stays'::regproc)`,
    );
    for (const { trigger, name } of guards.rows) await observer.query(`drop trigger ${trigger} on ${name}`);
    await observer.query('grant all on all tables in schema public to current_user');
    const tables = await observer.query<{ name: string; columns: string }>(
      `select relname as name, (select string_agg(quote_ident(attname), ', ' order by attnum) from pg_attribute
         where attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = '') as columns
       from pg_class c where relkind = 'r' and relnamespace = 'public'::regnamespace
         and relname <> 'schema_migrations' order by relname`,
    );
    const references = await observer.query<{ child: string; parent: string }>(
      `select conrelid::regclass::text as child, confrelid::regclass::text as parent from pg_constraint
       where contype = 'f' and conrelid <> confrelid`,
    );
    const triggers = await observer.query<{ name: string }>(
      `select distinct tgrelid::regclass::text as name from pg_trigger where not tgisinternal`,
    );
    const result = new Tables(
      connections,
      parentsFirst(
        tables.rows.map(({ name }) => name),
        references.rows,
      ),
      new Map(tables.rows.map(({ name, columns }) => [name, columns])),
      triggers.rows.map(({ name }) => name),
    );
    result.#migrated = await result.copy();
    // This keeps the plans, which are most of the cost. Separate statements took four times as long.
    await observer.query(
      `create function simulation_empty() returns void language plpgsql as $$ begin ${result.#deletes()}; end $$`,
    );
    return result;
  }

  /** Restores the state after the migrations. */
  async empty(): Promise<void> {
    const { observer } = this.#connections;
    await observer.query('begin; select simulation_empty()');
    await this.#fill(this.#migrated);
    await observer.query('commit');
    this.#connections.cache.clear();
  }

  /** Removes the dead rows of earlier histories from the files. */
  async vacuum(): Promise<void> {
    for (const name of this.#names) await this.#connections.observer.query(`vacuum ${name}`);
  }

  async copy(): Promise<Backup> {
    const { observer } = this.#connections;
    const parts = this.#names.map(
      (name) => `select '${name}' as name, coalesce(json_agg(t), '[]')::text as content from only ${name} t`,
    );
    const tables = await observer.query<{ name: string; content: string }>(parts.join(' union all '));
    const sequences = await observer.query<{ name: string; value: string | null }>(
      `select sequencename as name, last_value::text as value from pg_sequences where schemaname = 'public'`,
    );
    return {
      rows: new Map(tables.rows.map(({ name, content }) => [name, content])),
      sequences: sequences.rows,
    };
  }

  /** Restores the copy. Triggers stay off: the copy already has the rows that they write. */
  async restore(backup: Backup): Promise<void> {
    const { observer } = this.#connections;
    const all = (verb: string) =>
      this.#withTriggers.map((name) => `alter table ${name} ${verb} trigger user`).join('; ');
    await observer.query(`begin; ${all('disable')}; ${this.#deletes()}`);
    await this.#fill(backup);
    await observer.query(`${all('enable')}; commit`);
    this.#connections.cache.clear();
  }

  async #fill(backup: Backup): Promise<void> {
    const { observer } = this.#connections;
    for (const name of this.#names) {
      const content = backup.rows.get(name) ?? '[]';
      if (content === '[]') continue;
      const columns = this.#columns.get(name);
      await observer.query(
        `insert into ${name} (${columns}) overriding system value select ${columns} from json_populate_recordset(null::${name}, $1)`,
        [content],
      );
    }
    const moves = backup.sequences.map(
      ({ name, value }) => `setval('${name}', ${value ?? '1'}, ${value !== null})`,
    );
    if (moves.length > 0) await observer.query(`select ${moves.join(', ')}`);
  }

  #deletes(): string {
    // Tables that triggers fill on deletes have no parents, and are emptied last.
    const hasNoParents = (name: string) => (name.startsWith('list_') ? 1 : 0);
    return this.#names
      .toReversed()
      .toSorted((first, second) => hasNoParents(first) - hasNoParents(second))
      .map((name) => `delete from ${name}`)
      .join('; ');
  }
}

function parentsFirst(
  names: readonly string[],
  references: readonly { readonly child: string; readonly parent: string }[],
): string[] {
  const sorted: string[] = [];
  const visit = (name: string): void => {
    if (sorted.includes(name)) return;
    for (const link of references) if (link.child === name) visit(link.parent);
    sorted.push(name);
  };
  for (const name of names) visit(name);
  return sorted;
}
