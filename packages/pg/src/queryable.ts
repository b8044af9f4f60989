import type { Parameter } from './parameter.ts';
import type { ColumnSpec, RowOf, Statement } from './statement.ts';

/** What operations take: either a transaction or the pool itself (each statement then commits alone). */
export interface Queryable {
  query<C extends Record<string, ColumnSpec>>(
    statement: Statement<C>,
    values?: readonly Parameter[],
  ): Promise<RowOf<C>[]>;
}

/**
 * A transaction in progress; operations that must be atomic with others take this type. Statements that are asked without a
 * wait in between travel together, and are executed in the order in which they were asked.
 */
export interface Transaction extends Queryable {
  readonly inTransaction: true;
  /**
   * Has a change made whose answer nobody reads: it travels with the next statement, or with the commit, in its order. The
   * statement itself must raise an error where it finds not what it needs; the transaction then fails as a whole.
   */
  write(statement: Statement, values?: readonly Parameter[]): void;
}
