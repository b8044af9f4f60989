import type { Hex } from '@florin/protocol/order.ts';
import type { VersionedProduct } from '#catalog/product.ts';
import { batched } from '#db/batch.ts';
import type { Database, Parameter, Queryable } from '#db/database.ts';
import { claimValues, type IdempotencyClaim } from '#merchants/idempotency.ts';
import type { Random } from '#outside/random.ts';
import { firstEventValues } from '#webhooks/outbox.ts';
import { insertClaimedSessions, insertSessions } from './session-insert.sql.ts';
import { fullView, sessionViewJson } from './session-json.ts';
import type { StoredSession } from './stored-session.ts';

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

interface InsertDeps {
  readonly random: Random;
  readonly origin: string;
}

/** Sessions that gather while an insert is under way go into the next one together (bench/README.md). */
const groupCommit = { maxSize: 64, maxInFlight: 1, maxWaiting: 5_000 };

/** An inserter that stores sessions within the caller's transaction, or alone when given the pool. */
export function sessionInserter(queryable: Queryable, deps: InsertDeps): SessionInserter {
  return async (created) => (await insertAll(queryable, deps, [created]))[0] ?? 'terms_changed';
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
  const events = created.map((each) => createdEvent(each, deps.origin));
  const values = [...sessionValues(created), ...firstEventValues(deps.random, events)];
  const products = productValues(created);
  const claims = created.map(({ claim }) => claim);
  const outcomes = await (claims.some((claim) => claim !== undefined)
    ? insertClaimed(queryable, [...values, ...claimValues(claims), ...products])
    : insertUnclaimed(queryable, [...values, ...products]));
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

function createdEvent({ session, eventDataJson }: NewSession, origin: string) {
  return {
    type: 'session.created',
    dataJson: eventDataJson ?? sessionViewJson({ session, order: undefined }, fullView(origin)),
    at: session.createdAt,
  } as const;
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
