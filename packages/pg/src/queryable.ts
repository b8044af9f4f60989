import type { ColumnSpec } from './column-types.ts';
import type { RowOf, Statement } from './statement.ts';

/** The database argument of operations: a transaction or the pool itself, where each statement commits alone. */
export interface Queryable {
  query<C extends Record<string, ColumnSpec>, Arguments extends readonly unknown[]>(
    statement: Statement<C, Arguments>,
    ...values: NoInfer<Arguments>
  ): Promise<RowOf<C>[]>;
}

/**
 * A transaction in progress. Operations that must be atomic with others take this type. Statements run in the order
 * of the calls.
 */
export interface Transaction extends Queryable {
  readonly inTransaction: true;
}
