import type pg from 'pg';

/**
 * Row-level security by one setting of PostgreSQL: policies compare a row with the setting's value. The value
 * `everything` shows all rows.
 */
export interface RowScope {
  /** A setting with a dot in its name, such as `shop.tenant`. */
  readonly setting: string;
  readonly everything: string;
  /** Whether a value names one scope. `everything` must not. */
  readonly accepts: (value: string) => boolean;
}

/** The library's knowledge of a product's database. */
export interface Schema {
  /** The name of connections in PostgreSQL's list of activity. */
  readonly applicationName: string;
  readonly scope?: RowScope;
  /** The oldest major version of PostgreSQL that the schema runs on; any when absent. */
  readonly leastServerVersion?: number;
  /** The folder of the migrations, files such as `0001_first-tables.sql`. */
  readonly migrations: URL;
  /** SQL that is true when the advisory lock under which migrations run was free, from a `lockRegistry`. */
  readonly migrationLock: string;
  /** Throws for a connection on which the product must not migrate. */
  readonly checkConnection?: (client: pg.Client) => Promise<void>;
  /** SQL that runs after the migrations, each time. */
  readonly afterMigrations?: string;
}

/**
 * A database's URL with the scope of the whole system in it. The driver prefers options of the URL, so both are
 * joined there.
 */
export function withSystemScope(url: string, { scope }: Pick<Schema, 'scope'>): string {
  if (scope === undefined) return url;
  const [place = url, query] = url.split('?', 2);
  const parameters = new URLSearchParams(query);
  const option = `-c ${scope.setting}=${scope.everything}`;
  parameters.set('options', [parameters.get('options') ?? '', option].join(' ').trim());
  return `${place}?${parameters}`;
}
