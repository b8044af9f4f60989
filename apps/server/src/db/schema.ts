import type { Schema } from '@florin/pg';
import { isId } from '@florin/protocol/id.ts';
import { trySessionLock } from './advisory-lock.ts';
import { checkConnection } from './scope-check.ts';

/** The service's database. Policies separate merchants by the setting `florin.merchant`; `*` is the whole system. */
export const schema: Schema = {
  applicationName: 'florin',
  scope: {
    setting: 'florin.merchant',
    everything: '*',
    accepts: (value) => isId('merchant', value),
  },
  leastServerVersion: 15,
  migrations: new URL('./migrations/', import.meta.url),
  migrationLock: trySessionLock('migrations'),
  checkConnection,
  // A table that a migration adds without policies is visible to the system scope only.
  afterMigrations: 'select protect_tables()',
};
