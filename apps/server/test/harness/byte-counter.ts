import type { Database, Queryable, ScopedDatabase, Transaction } from '@florin/pg';

/** The size of one statement's result. */
export interface StatementBytes {
  readonly name: string;
  readonly rows: number;
  readonly bytes: number;
}

/** A database that counts, for each statement, the rows and the bytes of text that it returned. */
export function countedDatabase(db: Database): { readonly db: Database; take(): StatementBytes[] } {
  let seen: StatementBytes[] = [];
  const query =
    (queryable: Queryable): Queryable['query'] =>
    async (statement, ...values) => {
      const rows = await queryable.query(statement, ...values);
      seen.push({
        name: statement.name,
        rows: rows.length,
        bytes: rows.reduce((sum, row) => sum + bytesOf(row), 0),
      });
      return rows;
    };
  const transaction =
    (owner: Pick<ScopedDatabase, 'transaction'>): ScopedDatabase['transaction'] =>
    (work) =>
      owner.transaction((inner: Transaction) => work({ ...inner, query: query(inner) }));
  const counted: Database = {
    ...db,
    query: query(db),
    transaction: transaction(db),
    inScope(merchantId) {
      const own = db.inScope(merchantId);
      return { ...own, query: query(own), transaction: transaction(own) };
    },
  };
  return {
    db: counted,
    take() {
      const taken = seen;
      seen = [];
      return taken;
    },
  };
}

function bytesOf(row: object): number {
  return Object.values(row).reduce((sum: number, value: unknown) => {
    if (typeof value === 'string') return sum + Buffer.byteLength(value);
    if (value instanceof Uint8Array) return sum + value.length;
    if (Array.isArray(value)) return sum + bytesOf(value);
    return typeof value === 'object' && value !== null ? sum + bytesOf(value) : sum;
  }, 0);
}
