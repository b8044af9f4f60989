import { firstEventValues } from '@florin/outbox';
import { batched, type Database, type Parameter, type Queryable } from '@florin/pg';
import type { Hex } from '@florin/protocol/order.ts';
import type { VersionedProduct } from '#catalog/product.ts';
import { claimPlace, claimValues, type IdempotencyClaim } from '#merchants/idempotency.ts';
import type { SessionContext } from './context.ts';
import { insertClaimedSessions, insertSessions } from './session-insert.sql.ts';
import { sessionEventData } from './session-json.ts';
import type { StoredSession } from './stored-session.ts';

// For rooms that claim something of their own in the statement that stores the session.
export { draftColumns, drafts, sharedKinds, writesOf } from './session-insert.sql.ts';

/** A session that is about to be stored, with the secret that its on-chain key was made with. */
export interface NewSession {
  readonly session: StoredSession;
  readonly salt: Hex;
  /** The idempotency key that the session is stored under, with the answer for repeats; both or none are stored. */
  readonly claim?: IdempotencyClaim;
  /** `data` of the session.created event, where it has been written already; written for `fullView` when absent. */
  readonly eventDataJson?: string;
  /** Products that the terms were read from, when they must still be the same at the insert. */
  readonly products?: readonly Pick<VersionedProduct, 'productId' | 'version'>[];
}

/**
 * Whether a session was stored, with its session.created event. `terms_changed`: its account has been removed or
 * re-created, or a product that was to be the same has changed meanwhile. `key_used`: its idempotency key has an answer already. Nothing was stored then.
 */
export type InsertOutcome = 'stored' | 'terms_changed' | 'key_used';

export type SessionInserter = (created: NewSession) => Promise<InsertOutcome>;

/**
 * Sessions that gather while an insert is under way go into the next one together (lab/bench/README.md). Groups that take all
 * that waits grow until everybody waits for PostgreSQL, and then PostgreSQL for everybody; with these, half of 64 requests
 * are on their way through this process meanwhile (docs/decisions/0039).
 */
const groupCommit = { maxSize: 64, usualSize: 32, maxInFlight: 1, maxWaiting: 5_000 };

/** An inserter that stores sessions within the caller's transaction, or alone when given the pool. */
export function sessionInserter(
  queryable: Queryable,
  deps: Pick<SessionContext, 'random' | 'origin'>,
): SessionInserter {
  return async (created) => (await insertAll(queryable, deps, [created]))[0] ?? 'terms_changed';
}

/** An inserter for many requests at once: they share round trips and commits. */
export function groupInserter(
  db: Database,
  deps: Pick<SessionContext, 'random' | 'origin'>,
): SessionInserter {
  return batched((created) => insertAll(db, deps, created), groupCommit);
}

async function insertAll(
  queryable: Queryable,
  deps: Pick<SessionContext, 'random' | 'origin'>,
  created: readonly NewSession[],
): Promise<InsertOutcome[]> {
  const claims = created.map(({ claim }) => claim);
  const outcomes = await (claims.some((claim) => claim !== undefined)
    ? insertClaimed(queryable, insertValues(deps, created, claimValues(claims), claimPlaceOf))
    : insertUnclaimed(queryable, insertValues(deps, created)));
  return created.map(({ session }) => outcomes.get(session.sessionId) ?? 'terms_changed');
}

async function insertUnclaimed(
  queryable: Queryable,
  values: readonly Parameter[],
): Promise<Map<string, InsertOutcome>> {
  const rows = await queryable.query(insertSessions, values);
  return new Map(rows.map((row) => [row.session_id, 'stored']));
}

async function insertClaimed(
  queryable: Queryable,
  values: readonly Parameter[],
): Promise<Map<string, InsertOutcome>> {
  const rows = await queryable.query(insertClaimedSessions, values);
  return new Map(rows.map((row) => [row.session_id, row.is_stored ? 'stored' : 'key_used']));
}

type Value = string | number | bigint | boolean | Date | Uint8Array | null;

const noMoreTerms = (): readonly Value[] => [];
const claimPlaceOf = ({ claim }: NewSession) => claimPlace(claim);

/**
 * Values of `draftColumns`, then those of the caller's own columns, then those of `sharedKinds` with the further terms
 * that the caller gives each session.
 */
export function insertValues(
  deps: Pick<SessionContext, 'random' | 'origin'>,
  created: readonly NewSession[],
  ownValues: readonly Parameter[] = [],
  moreTermsOf: (created: NewSession) => readonly Value[] = noMoreTerms,
): Parameter[] {
  const terms = distinct(created, (each) => [...termsOf(each.session), ...moreTermsOf(each)]);
  return [
    terms.places,
    ...sessionValues(created),
    ...firstEventValues(
      deps.random,
      created.map((each) => createdEvent(each, deps.origin)),
    ),
    ...ownValues.map(orEmpty),
    ...productValues(created),
    ...terms.columns,
  ];
}

function createdEvent({ session, eventDataJson }: NewSession, origin: string) {
  const data = sessionEventData({ session, order: undefined }, origin, eventDataJson);
  return { type: 'session.created', ...data, at: session.createdAt } as const;
}

/** What of the terms stands in each session, each set of values once: the places, from 1, and a list for each column. */
function distinct(created: readonly NewSession[], valuesOf: (created: NewSession) => readonly Value[]) {
  const places = new Map<string, number>();
  const columns: Value[][] = [];
  return {
    places: created.map((each) => {
      const values = valuesOf(each);
      // No text in here holds a line feed: they are ids, addresses and names of tokens.
      const key = values.join('\n');
      const known = places.get(key);
      if (known !== undefined) return known;
      places.set(key, places.size + 1);
      for (const [index, value] of values.entries()) {
        const column = columns[index] ?? [];
        columns[index] = column;
        column.push(value);
      }
      return places.size;
    }),
    columns,
  };
}

/** In the order of the terms of the statement. */
function termsOf(session: StoredSession): readonly Value[] {
  return [
    session.merchantId,
    session.sessionType,
    session.businessId,
    session.businessType,
    session.accountId,
    session.accountVersion,
    session.recipient,
    session.settlementToken,
    session.feeModel,
    session.payerEmailRequired,
    session.channelId,
    session.intendedToken,
  ];
}

/** Who sells what, then each product once: sessions of one moment often sell the same ones. */
function productValues(created: readonly NewSession[]): Parameter[] {
  const sessions: number[] = [];
  const sold: number[] = [];
  const places = new Map<string, { place: number; productId: string; version: string }>();
  for (const [index, { products = [] }] of created.entries()) {
    for (const { productId, version } of products) {
      const key = `${productId} ${version}`;
      const seen = places.get(key) ?? { place: places.size + 1, productId, version };
      places.set(key, seen);
      sessions.push(index + 1);
      sold.push(seen.place);
    }
  }
  const seen = [...places.values()];
  return [sessions, sold, seen.map(({ productId }) => productId), seen.map(({ version }) => version)];
}

/** One array per column, in the order of the statement. */
function sessionValues(created: readonly NewSession[]): Parameter[] {
  const sessions = created.map(({ session }) => session);
  return [
    orEmpty(sessions.map((session) => (session.intendedPayer === '' ? null : session.intendedPayer))),
    sessions.map((session) => session.sessionId),
    sessions.map((session) => session.clientCode),
    sessions.map((session) => session.amount),
    sessions.map((session) => JSON.stringify(session.items)),
    sessions.map((session) => session.successUrl),
    sessions.map((session) => session.metadata),
    sessions.map((session) => session.metaData),
    created.map(({ salt }) => salt),
    orEmpty(sessions.map((session) => session.chosenTotal ?? null)),
    sessions.map((session) => session.expirationTime),
    sessions.map((session) => session.createdAt),
  ];
}

/** The column itself, or no elements where nothing stands in it: unnest fills up with null, and costs nothing for it. */
function orEmpty(column: Parameter): Parameter {
  return isList(column) && column.every((value) => value === null) ? [] : column;
}

// Array.isArray narrows nothing that is readonly.
function isList(value: Parameter): value is readonly Value[] {
  return Array.isArray(value);
}
