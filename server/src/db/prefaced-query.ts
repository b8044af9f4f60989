import pg from 'pg';

/** A named statement with its values as the wire takes them. */
export interface NamedQuery {
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

/** Begins a transaction, in READ COMMITTED as the server is delivered. */
export const begin: NamedQuery = { name: 'florin_begin', text: 'begin', values: [] };

/** Narrows what follows to one merchant's rows, until the transaction ends. */
export function scopeOf(merchantId: string): NamedQuery {
  return {
    name: 'florin_scope',
    text: `select set_config('florin.merchant', $1, true)`,
    values: [merchantId],
  };
}

/**
 * A statement with others before it, in one round trip. All are executed before one Sync: where one fails, those behind it
 * are not executed at all, so that nothing runs outside of the transaction or the scope that the first ones begin. Without a
 * begin among them they are one transaction together. What the first ones answer is not looked at.
 */
class PrefacedQuery extends BaseQuery {
  readonly #prefaces: readonly NamedQuery[];
  readonly #query: NamedQuery;
  #answered = 0;

  constructor(prefaces: readonly NamedQuery[], query: NamedQuery) {
    super({ name: query.name, text: query.text, values: query.values });
    this.#prefaces = prefaces;
    this.#query = query;
  }

  override submit(connection: DriverConnection): Error | null {
    connection.stream.cork();
    try {
      for (const { name, text, values } of this.#prefaces) {
        if (connection.parsedStatements[name] === undefined) connection.parse({ name, text });
        connection.bind({ statement: name, values });
        connection.execute({});
      }
      const refusal = super.submit(connection);
      this.#expectNext();
      return refusal;
    } finally {
      connection.stream.uncork();
    }
  }

  override handleDataRow(message: unknown): void {
    if (this.#answered === this.#prefaces.length) super.handleDataRow(message);
  }

  override handleCommandComplete(message: unknown, connection: DriverConnection): void {
    if (this.#answered === this.#prefaces.length) {
      super.handleCommandComplete(message, connection);
      return;
    }
    this.#answered += 1;
    this.#expectNext();
  }

  override handleError(error: Error, connection: DriverConnection): void {
    // After an error before it the statement was never parsed.
    if (this.#answered < this.#prefaces.length) delete connection.submittedNamedStatements[this.#query.name];
    super.handleError(error, connection);
  }

  /** The driver files what was parsed under the name of the query that is answered. */
  #expectNext(): void {
    const { name, text } = this.#prefaces[this.#answered] ?? this.#query;
    this.name = name;
    this.text = text;
  }
}

/** Runs one named statement with others before it, on any connection of a pool or on a given one, in one round trip. */
export function queryAfter(
  client: pg.Pool | pg.PoolClient,
  prefaces: readonly NamedQuery[],
  query: NamedQuery,
): Promise<pg.QueryResult> {
  // The driver's types do not know that custom queries of its own kind come with a callback.
  const ask = client.query.bind(client) as unknown as (
    query: PrefacedQuery,
    callback: (error: Error | null, result: pg.QueryResult) => void,
  ) => void;
  return new Promise((resolve, reject) => {
    ask(new PrefacedQuery(prefaces, query), (error, result) =>
      error === null || error === undefined ? resolve(result) : reject(error),
    );
  });
}
