/** The package's only entry: it exports everything that other packages may use. */
export { type AdvisoryLock, type AdvisoryLocks, lockRegistry } from './advisory-lock.ts';
export { type BatchLimits, BatchOverload, type BatchWork, batched, batchedByKey } from './batch.ts';
export { byteBudget, isWithinBudget } from './byte-budget.ts';
export { type ColumnKind, type ColumnSpec, columnTypes } from './column-types.ts';
export {
  type Database,
  type DatabaseOptions,
  databaseOver,
  openDatabase,
  type PoolState,
  type ScopedDatabase,
} from './database.ts';
export {
  checkServer,
  type MigrateOptions,
  type Migration,
  migrate,
  pendingMigrations,
  readMigrations,
} from './migrate.ts';
export { isDatabaseAway } from './outage.ts';
export { openPlainPool, type PlainPool } from './plain-pool.ts';
export type { Queryable, Transaction } from './queryable.ts';
export { type LaggingReads, laggingReads, primaryReads } from './replica.ts';
export { type RowScope, type Schema, withSystemScope } from './schema.ts';
export { UnfitDatabase } from './server-check.ts';
export {
  declaredStatements,
  type Parameter,
  type ParameterKind,
  type ParameterSpec,
  type Row,
  type RowOf,
  type Statement,
  statement,
  type ValuesOf,
} from './statement.ts';
export { type ThrowAwayDatabase, throwAwayDatabase } from './throw-away-database.ts';
export { isLockTimeout } from './transaction.ts';
