import type { ColumnSpec, RowOf, Statement } from './statement.ts';

/** What operations take: either a transaction or the pool itself (each statement then commits alone). */
export interface Queryable {
  query<C extends Record<string, ColumnSpec>, Arguments extends readonly unknown[]>(
    statement: Statement<C, Arguments>,
    ...values: NoInfer<Arguments>
  ): Promise<RowOf<C>[]>;
}

/**
 * A transaction in progress; operations that must be atomic with others take this type. Statements that are asked without a
 * wait in between travel together, and are executed in the order in which they were asked.
 */
export interface Transaction extends Queryable {
  readonly inTransaction: true;
  /**
   * Makes a change whose answer is not read: it travels with the next statement, or with the commit, in its order. The
   * statement itself must raise an error where its conditions do not hold; the transaction then fails as a whole.
   */
  write<C extends Record<string, ColumnSpec>, Arguments extends readonly unknown[]>(
    statement: Statement<C, Arguments>,
    ...values: NoInfer<Arguments>
  ): void;
}
