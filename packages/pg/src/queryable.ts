import type { ColumnSpec } from './column-types.ts';
import type { RowOf, Statement } from './statement.ts';

/** What operations take: either a transaction or the pool itself (each statement then commits alone). */
export interface Queryable {
  query<C extends Record<string, ColumnSpec>, Arguments extends readonly unknown[]>(
    statement: Statement<C, Arguments>,
    ...values: NoInfer<Arguments>
  ): Promise<RowOf<C>[]>;
}

/**
 * A transaction in progress; operations that must be atomic with others take this type. Statements run in the order in which
 * they were asked.
 */
export interface Transaction extends Queryable {
  readonly inTransaction: true;
}
