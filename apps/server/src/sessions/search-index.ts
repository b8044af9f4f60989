import type { Database, Row, Transaction } from '@florin/pg';
import type { Clock } from '#outside/clock.ts';
import type { Log } from '#telemetry/log.ts';
import { runRounds } from '#telemetry/rounds.ts';
import * as sql from './search-index.sql.ts';
import { isLookedUp, sessionWords, wordRules } from './search-words.ts';
import { parseSession } from './session-row.ts';

const intervalMs = 500;
/** Rows of the queue, each of one statement's sessions, and sessions of a walk, in one transaction. */
const queueBatch = 50;
const walkBatch = 500;
/** Sessions that one statement reads. */
const readBatch = 500;

/** Keeps the index of the search up to date until the signal aborts. What a killed worker did not finish is done again. */
export function runSearchIndex(
  deps: { readonly db: Database; readonly clock: Clock; readonly log: Log },
  signal: AbortSignal,
): Promise<void> {
  const { db, clock, log } = deps;
  return runRounds({ clock, log, intervalMs, failure: 'search.index_failed' }, signal, async () => {
    let isMore = true;
    while (isMore && !signal.aborted)
      isMore = await db.transaction((transaction) => indexSessions(transaction));
    return false;
  });
}

/**
 * Indexes sessions that were written since, and then a batch of those that existed before. False when none are left,
 * or another worker is active.
 */
export async function indexSessions(transaction: Transaction): Promise<boolean> {
  const [lock] = await transaction.query(sql.lockSearchIndex);
  if (lock?.is_mine !== true) return false;
  const queued = await transaction.query(sql.takeQueued, { limit: queueBatch });
  await indexAll(transaction, [...new Set(queued.flatMap((row) => row.session_ids))]);
  if (queued.length === queueBatch) return true;
  return walk(transaction);
}

/** Indexes the next sessions by id. Begins anew when the rules for words have changed. */
async function walk(transaction: Transaction): Promise<boolean> {
  const [progress] = await transaction.query(sql.searchProgress);
  const isNew = progress?.version !== wordRules;
  const after = isNew ? '' : progress.indexed_to;
  if (after === null) return false;
  const rows = await transaction.query(sql.nextSessionIds, { after, limit: walkBatch });
  await indexAll(
    transaction,
    rows.map((row) => row.session_id),
  );
  const indexedTo = rows.length < walkBatch ? null : (rows.at(-1)?.session_id ?? null);
  await transaction.query(sql.saveProgress, { version: wordRules, indexedTo });
  return indexedTo !== null;
}

async function indexAll(transaction: Transaction, sessionIds: readonly string[]): Promise<void> {
  for (let left = sessionIds; left.length > 0; ) {
    const sessionIds = left.slice(0, readBatch);
    const rows = await transaction.query(sql.sessionsToIndex, { sessionIds });
    left = left.slice(readBatch);
    if (rows.length === 0) continue;
    await indexRows(transaction, rows);
    // The limit of bytes may have left some out.
    const read = new Set(rows.map((row) => row.session_id));
    left = [...sessionIds.filter((sessionId) => !read.has(sessionId)), ...left];
  }
}

async function indexRows(
  transaction: Transaction,
  rows: readonly Row<typeof sql.sessionsToIndex>[],
): Promise<void> {
  const sessionIds = rows.map((row) => row.session_id);
  const earlier = await transaction.query(sql.indexedWords, { sessionIds });
  const known = new Map(earlier.map((row) => [row.session_id, new Set(row.words.trim().split(' '))]));
  const [added, removed] = [wordColumns(), wordColumns()];
  const texts = rows.map((row) => {
    const words = new Set(sessionWords(parseSession(row)));
    const before = known.get(row.session_id) ?? new Set<string>();
    for (const word of words) if (!before.has(word)) addWord(added, row, word);
    for (const word of before) if (!words.has(word)) addWord(removed, row, word);
    return ` ${[...words].join(' ')} `;
  });
  await transaction.query(sql.storeIndexed, {
    sessionIds,
    merchantIds: rows.map((row) => row.merchant_id),
    ordinals: rows.map((row) => row.ordinal),
    createdAts: rows.map((row) => row.created_at),
    words: texts,
  });
  if (added.words.length > 0) await transaction.query(sql.addWords, added);
  if (removed.words.length > 0) await transaction.query(sql.removeWords, removed);
}

function wordColumns() {
  return { merchantIds: [] as string[], words: [] as string[], ordinals: [] as bigint[] };
}

function addWord(
  columns: ReturnType<typeof wordColumns>,
  { merchant_id, ordinal }: Row<typeof sql.sessionsToIndex>,
  word: string,
): void {
  if (!isLookedUp(word)) return;
  columns.merchantIds.push(merchant_id);
  columns.words.push(word);
  columns.ordinals.push(ordinal);
}
