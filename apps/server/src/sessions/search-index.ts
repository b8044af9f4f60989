import type { Row, Transaction } from '@florin/pg';
import type { LineItem } from '@florin/protocol/line-item.ts';
import { indexLinkNames } from '#links/link-name.ts';
import * as sql from './search-index.sql.ts';
import { isLookedUp, type SearchedSession, sessionWords, wordRules } from './search-words.ts';

/** Rows of the queue, each of one statement's sessions, and sessions of a walk, in one transaction. */
const queueBatch = 200;
const walkBatch = 500;
/** Sessions that one statement reads. */
const readBatch = 500;

/**
 * Indexes links and sessions that were written since, and then a batch of sessions that existed before. False when none
 * are left, or another worker is active. What a killed worker did not finish is done again.
 */
export async function indexSessions(transaction: Transaction): Promise<boolean> {
  const [lock] = await transaction.query(sql.lockSearchIndex);
  if (lock?.is_mine !== true) return false;
  const areMoreLinks = await indexLinkNames(transaction);
  const queued = await transaction.query(sql.takeQueued, { limit: queueBatch });
  await indexAll(transaction, [...new Set(queued.flatMap((row) => row.session_ids))]);
  if (queued.length === queueBatch) return true;
  const areMoreSessions = await walk(transaction);
  return areMoreLinks || areMoreSessions;
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
  const [words, added]: [string[], string[]] = [[], []];
  const removed = { merchantIds: [] as string[], words: [] as string[], ordinals: [] as bigint[] };
  for (const row of rows) {
    const own = sessionWords(searchedSession(row));
    const before = known.get(row.session_id);
    words.push(` ${own.join(' ')} `);
    added.push(own.filter((word) => isLookedUp(word) && before?.has(word) !== true).join(' '));
    for (const word of own) before?.delete(word);
    for (const word of before ?? []) {
      if (!isLookedUp(word)) continue;
      removed.merchantIds.push(row.merchant_id);
      removed.words.push(word);
      removed.ordinals.push(row.ordinal);
    }
  }
  await transaction.query(sql.storeIndexed, {
    ...{ sessionIds, words, added },
    merchantIds: rows.map((row) => row.merchant_id),
    ordinals: rows.map((row) => row.ordinal),
    createdAts: rows.map((row) => row.created_at),
  });
  if (removed.words.length > 0) await transaction.query(sql.removeWords, removed);
}

function searchedSession(row: Row<typeof sql.sessionsToIndex>): SearchedSession {
  return {
    sessionId: row.session_id,
    accountId: row.account_id,
    businessId: row.business_id,
    receiptId: row.receipt_id,
    orderId: row.order_id,
    payer: row.payer,
    payerEmail: row.payer_email,
    initiateTx: row.initiate_tx,
    completeTx: row.complete_tx,
    amount: row.amount,
    paymentSucceededAt: row.payment_succeeded_at,
    items: JSON.parse(row.line_items) as LineItem[],
    metadata: row.metadata,
  };
}
