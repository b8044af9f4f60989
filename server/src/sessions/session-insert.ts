import type { Hex } from '@florin/protocol/order.ts';
import { batched } from '#db/batch.ts';
import type { Database, Parameter, Queryable } from '#db/database.ts';
import type { Random } from '#outside/random.ts';
import { incomingEventValues, type OutboxEvent } from '#webhooks/outbox.ts';
import { insertSessions } from './session-insert.sql.ts';
import { fullView, sessionViewJson } from './session-json.ts';
import type { StoredSession } from './stored-session.ts';

/** A session that is about to be stored, with the secret that its on-chain key was made with. */
export interface NewSession {
  readonly session: StoredSession;
  readonly salt: Hex;
}

/** Stores a session with its session.created event; false when its account has been removed or re-created meanwhile. */
export type SessionInserter = (created: NewSession) => Promise<boolean>;

interface InsertDeps {
  readonly random: Random;
  readonly origin: string;
}

/** Sessions that gather while two inserts are under way go into the next one together (bench/README.md). */
const groupCommit = { maxSize: 64, maxInFlight: 2, maxWaiting: 5_000 };

/** An inserter that stores sessions within the caller's transaction, or alone when given the pool. */
export function sessionInserter(queryable: Queryable, deps: InsertDeps): SessionInserter {
  return async (created) => (await insertAll(queryable, deps, [created]))[0] === true;
}

/** An inserter for many requests at once: they share round trips and commits. */
export function groupInserter(db: Database, deps: InsertDeps): SessionInserter {
  return batched((created) => insertAll(db, deps, created), groupCommit);
}

async function insertAll(
  queryable: Queryable,
  deps: InsertDeps,
  created: readonly NewSession[],
): Promise<boolean[]> {
  const events = created.map(({ session }) => createdEvent(session, deps.origin));
  const values = [...sessionValues(created), ...incomingEventValues(deps.random, events)];
  const rows = await queryable.query(insertSessions, values);
  const stored = new Set(rows.map((row) => row.session_id));
  return created.map(({ session }) => stored.has(session.sessionId));
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
