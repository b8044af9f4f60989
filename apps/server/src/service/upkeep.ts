import type { Database } from '@florin/pg';
import { addUpLists } from '#db/list-count.ts';
import { sealBatch, sealEntries } from '#ledger/seal.ts';
import { endLinks } from '#links/link-status.ts';
import { takeEffect } from '#merchants/account-change.ts';
import { deleteOldAnswers } from '#merchants/idempotency.ts';
import { gasAlarm } from '#merchants/relayed-gas.ts';
import { addUpHours } from '#reports/hour-sums.ts';
import { makeReports } from '#reports/report.ts';
import { indexSessions } from '#sessions/search-index.ts';
import { runRounds } from '#telemetry/rounds.ts';
import type { ServiceOptions } from './options.ts';

const secondMs = 1_000;
const minuteMs = 60_000;
/** Links that one transaction ends: the event of each may have 64 KiB. */
const linkEndBatch = 16;
/** Changes of lists, or payments, that one transaction adds up: some tens of milliseconds. */
const addUpBatch = 2_000;
/** Answers to idempotency keys that one statement deletes. */
const answerBatch = 1_000;

/** A worker's rounds that need the database alone, until the signal aborts. A round that gives true has more to do. */
export function keepUp(options: ServiceOptions, db: Database, signal: AbortSignal): Promise<void>[] {
  const { clock, log, gasless } = options;
  const every = (intervalMs: number, failure: string, round: () => Promise<unknown>) =>
    runRounds({ clock, log, intervalMs, failure }, signal, round);
  const { totals } = gasless ?? {};
  return [
    every(secondMs, 'links.end_failed', async () => {
      const count = await db.transaction((transaction) => endLinks(transaction, options, linkEndBatch));
      return count === linkEndBatch;
    }),
    every(secondMs, 'accounts.change_failed', () =>
      db.transaction((transaction) => takeEffect(transaction, options)),
    ),
    every(secondMs, 'ledger.sealing_failed', async () => {
      const count = await db.transaction((transaction) => sealEntries(transaction, clock.now()));
      return count >= sealBatch;
    }),
    // Totals, sums and searches are right, and slower, while these are late.
    every(secondMs, 'lists.count_failed', () =>
      db.transaction((transaction) => addUpLists(transaction, addUpBatch)),
    ),
    every(secondMs, 'reports.hours_failed', () =>
      db.transaction((transaction) => addUpHours(transaction, addUpBatch)),
    ),
    every(secondMs / 2, 'search.index_failed', () => db.transaction(indexSessions)),
    every(secondMs, 'reports.failed', () => makeReports(db, options)),
    every(minuteMs, 'idempotency.housekeeping_failed', async () => {
      const count = await deleteOldAnswers(db, clock.now(), answerBatch);
      return count >= answerBatch;
    }),
    ...(totals === undefined
      ? []
      : [every(minuteMs, 'gas.look_failed', gasAlarm({ db, clock, log, totals }))]),
  ];
}
