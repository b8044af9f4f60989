import { type Database, type LaggingReads, laggingReads, openDatabase, primaryReads } from '@florin/pg';
import { Refusal } from '@florin/protocol/error.ts';
import { schema } from '#db/schema.ts';
import type { Metrics } from '#telemetry/metrics.ts';
import type { ServiceOptions } from './options.ts';

/** Lists, search and sums over the replica of the options, or over the primary. */
export interface Lists extends LaggingReads {
  close(): Promise<void>;
}

export function openLists(
  {
    databaseReplica,
    clock,
    log,
    metrics,
  }: Pick<ServiceOptions, 'databaseReplica' | 'clock' | 'log'> & {
    readonly metrics?: Pick<Metrics, 'listRead'> | undefined;
  },
  primary: Database,
): Lists {
  if (databaseReplica === undefined) return { ...primaryReads(primary), close: async () => {} };
  const { url, maxLagSeconds } = databaseReplica;
  const tell = (error: unknown) =>
    log.warn('database.replica_failed', { message: error instanceof Error ? error.message : String(error) });
  const replica = openDatabase({ schema, url, onError: tell });
  const reads = laggingReads({
    ...{ primary, replica, maxLagMs: maxLagSeconds * 1_000, monotonicMs: clock.monotonicMs },
    isFailure: (error) => !(error instanceof Refusal),
    onFailure: tell,
    onRead: metrics?.listRead,
  });
  return { ...reads, close: () => replica.close() };
}
