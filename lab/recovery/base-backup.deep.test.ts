import { drillRecovery } from './drill.ts';

// The way that works with every version of PostgreSQL: pgBackRest of a distribution may not know a new one.
drillRecovery('pg_basebackup');
