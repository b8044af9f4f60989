import pg from 'pg';

/** What one scoped statement is: a named statement, its values as the wire takes them, and whose rows it may touch. */
interface ScopedQueryConfig {
  readonly merchantId: string;
  readonly name: string;
  readonly text: string;
  readonly values: unknown[];
}

/** The driver's bookkeeping of one connection, as custom queries like its own pg-cursor use it. */
interface DriverConnection {
  readonly stream: { cork(): void; uncork(): void };
  readonly parsedStatements: Record<string, string>;
  readonly submittedNamedStatements: Record<string, string>;
  parse(message: { name: string; text: string }): void;
  bind(message: { statement: string; values: unknown[] }): void;
  execute(message: object): void;
}

/** The driver's own query, with the methods that its type declarations leave out. */
interface DriverQuery {
  name: string;
  text: string;
  submit(connection: DriverConnection): Error | null;
  handleDataRow(message: unknown): void;
  handleCommandComplete(message: unknown, connection: DriverConnection): void;
  handleError(error: Error, connection: DriverConnection): void;
}

const BaseQuery = pg.Query as unknown as new (config: {
  name: string;
  text: string;
  values: unknown[];
}) => DriverQuery;

const scopeName = 'florin_scope';
const scopeText = `select set_config('florin.merchant', $1, true)`;

/**
 * A statement that runs in one merchant's scope, in one round trip: the scope is set and the statement executed before
 * one Sync, which makes both one transaction. The scope is local to it and ends with it, whatever comes of it.
 */
class ScopedQuery extends BaseQuery {
  readonly #config: ScopedQueryConfig;
  #isScopeSet = false;

  constructor(config: ScopedQueryConfig) {
    super({ name: config.name, text: config.text, values: config.values });
    this.#config = config;
  }

  override submit(connection: DriverConnection): Error | null {
    const isScopeParsed = connection.parsedStatements[scopeName] !== undefined;
    connection.stream.cork();
    try {
      if (!isScopeParsed) connection.parse({ name: scopeName, text: scopeText });
      connection.bind({ statement: scopeName, values: [this.#config.merchantId] });
      connection.execute({});
      const refusal = super.submit(connection);
      // The driver files what was parsed under the name of the query that is answered: first this is the scope's.
      this.name = scopeName;
      this.text = scopeText;
      return refusal;
    } finally {
      connection.stream.uncork();
    }
  }

  override handleDataRow(message: unknown): void {
    if (this.#isScopeSet) super.handleDataRow(message);
  }

  override handleCommandComplete(message: unknown, connection: DriverConnection): void {
    if (this.#isScopeSet) {
      super.handleCommandComplete(message, connection);
      return;
    }
    this.#isScopeSet = true;
    this.name = this.#config.name;
    this.text = this.#config.text;
  }

  override handleError(error: Error, connection: DriverConnection): void {
    // After an error in the scope the statement behind it was never parsed.
    if (!this.#isScopeSet) delete connection.submittedNamedStatements[this.#config.name];
    super.handleError(error, connection);
  }
}

/** Runs one named statement in a merchant's scope, on any connection of the pool, in one round trip. */
export function queryInScope(pool: pg.Pool, config: ScopedQueryConfig): Promise<pg.QueryResult> {
  // The driver's types do not know that a pool takes custom queries, too, and promises their results.
  return pool.query(new ScopedQuery(config) as unknown as pg.QueryConfig);
}
