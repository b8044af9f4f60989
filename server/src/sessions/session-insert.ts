import type { Hex } from '@florin/protocol/order.ts';
import { batched } from '#db/batch.ts';
import type { Database, Parameter, Queryable } from '#db/database.ts';
import { claimValues, type IdempotencyClaim } from '#merchants/idempotency.ts';
import type { Random } from '#outside/random.ts';
import { incomingEventValues, type OutboxEvent } from '#webhooks/outbox.ts';
import { insertClaimedSessions, insertSessions } from './session-insert.sql.ts';
import { fullView, sessionViewJson } from './session-json.ts';
import type { StoredSession } from './stored-session.ts';

/** A session that is about to be stored, with the secret that its on-chain key was made with. */
export interface NewSession {
  readonly session: StoredSession;
  readonly salt: Hex;
  /** The idempotency key that the session is stored under, with the answer for repeats; both or none are stored. */
  readonly claim?: IdempotencyClaim;
}

/**
 * Whether a session was stored, with its session.created event. `account_gone`: its account has been removed or
 * re-created meanwhile. `key_used`: its idempotency key has an answer already. Nothing was stored then.
 */
export type InsertOutcome = 'stored' | 'account_gone' | 'key_used';

export type SessionInserter = (created: NewSession) => Promise<InsertOutcome>;

interface InsertDeps {
  readonly random: Random;
  readonly origin: string;
}

/** Sessions that gather while an insert is under way go into the next one together (bench/README.md). */
const groupCommit = { maxSize: 64, maxInFlight: 1, maxWaiting: 5_000 };

/** An inserter that stores sessions within the caller's transaction, or alone when given the pool. */
export function sessionInserter(queryable: Queryable, deps: InsertDeps): SessionInserter {
  return async (created) => (await insertAll(queryable, deps, [created]))[0] ?? 'account_gone';
}

/** An inserter for many requests at once: they share round trips and commits. */
export function groupInserter(db: Database, deps: InsertDeps): SessionInserter {
  return batched((created) => insertAll(db, deps, created), groupCommit);
}

async function insertAll(
  queryable: Queryable,
  deps: InsertDeps,
  created: readonly NewSession[],
): Promise<InsertOutcome[]> {
  const events = incomingEventValues(
    deps.random,
    created.map(({ session }) => createdEvent(session, deps.origin)),
  );
  const outcomes = await (created.some(({ claim }) => claim !== undefined)
    ? insertClaimed(queryable, created, events)
    : insertUnclaimed(queryable, created, events));
  return created.map(({ session }) => outcomes.get(session.sessionId) ?? 'account_gone');
}

async function insertUnclaimed(
  queryable: Queryable,
  created: readonly NewSession[],
  events: readonly Parameter[],
): Promise<Map<string, InsertOutcome>> {
  const rows = await queryable.query(insertSessions, [...sessionValues(created), ...events]);
  return new Map(rows.map((row) => [row.session_id, 'stored']));
}

async function insertClaimed(
  queryable: Queryable,
  created: readonly NewSession[],
  events: readonly Parameter[],
): Promise<Map<string, InsertOutcome>> {
  const claims = claimValues(created.map(({ claim }) => claim));
  const rows = await queryable.query(insertClaimedSessions, [
    ...sessionValues(created),
    ...claims,
    ...events,
  ]);
  return new Map(rows.map((row) => [row.session_id, row.is_stored ? 'stored' : 'key_used']));
}

function createdEvent(session: StoredSession, origin: string): OutboxEvent {
  return {
    merchantId: session.merchantId,
    type: 'session.created',
    objectId: session.sessionId,
    dataJson: sessionViewJson({ session, order: undefined }, fullView(origin)),
    at: session.createdAt,
  };
}

/** One array per column, in the order of the statement. */
function sessionValues(created: readonly NewSession[]): Parameter[] {
  const column = <Value extends string | number | bigint | boolean | Date | null>(
    value: (session: StoredSession) => Value,
  ): Value[] => created.map(({ session }) => value(session));
  return [
    column((session) => session.sessionId),
    column((session) => session.merchantId),
    column((session) => session.sessionType),
    column((session) => session.businessId),
    column((session) => session.businessType),
    column((session) => session.clientCode),
    column((session) => session.accountId),
    column((session) => session.accountVersion),
    column((session) => session.recipient),
    column((session) => session.settlementToken),
    column((session) => session.feeModel),
    column((session) => session.amount),
    column((session) => JSON.stringify(session.items)),
    column((session) => session.payerEmailRequired),
    column((session) => session.successUrl),
    column((session) => session.metadata),
    column((session) => session.metaData),
    created.map(({ salt }) => salt),
    column((session) => session.channelId),
    column((session) => session.intendedPayer),
    column((session) => session.intendedToken),
    column((session) => session.chosenTotal ?? null),
    column((session) => session.expirationTime),
    column((session) => session.createdAt),
  ];
}
