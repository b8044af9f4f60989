import { firstEventValues } from '@florin/outbox';
import { batched, type Database, type Queryable } from '@florin/pg';
import type { Hex } from '@florin/protocol/order.ts';
import type { VersionedProduct } from '#catalog/product.ts';
import { type KeyedAnswer, keyedAnswerValues, sharedKeyValues } from '#merchants/idempotency.ts';
import type { SessionContext } from './context.ts';
import { insertKeyedSessions, insertSessions } from './session-insert.sql.ts';
import { sessionEventData } from './session-json.ts';
import type { StoredSession } from './stored-session.ts';

// For rooms that store rows of their own in the statement that stores the session.
export { draftColumns, drafts, sharedParameters, writesOf } from './session-insert.sql.ts';

/** A session that is about to be stored, with the secret that its on-chain key was made with. */
export interface NewSession {
  readonly session: StoredSession;
  readonly salt: Hex;
  /** The idempotency key that the session is stored under, with the answer for repeats; both or none are stored. */
  readonly keyedAnswer?: KeyedAnswer | undefined;
  /** `data` of the session.created event, where it has been written already; written for `fullView` when absent. */
  readonly eventDataJson?: string | undefined;
  /** Products that the terms were read from, when they must still be the same at the insert. */
  readonly products?: readonly Pick<VersionedProduct, 'productId' | 'version'>[];
}

/**
 * Whether a session was stored, with its session.created event. `terms_changed`: its account has been removed or
 * re-created, or a product that was to be the same has changed meanwhile. `key_used`: its idempotency key has an answer already. Nothing was stored then.
 */
export type InsertOutcome = 'stored' | 'terms_changed' | 'key_used';

export type SessionInserter = (created: NewSession) => Promise<InsertOutcome>;

/** Sessions that gather while an insert is under way go into the next one together (docs/decisions/0039). */
const groupCommit = { maxSize: 32, maxInFlight: 1, maxWaiting: 5_000 };

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
  const values = insertValues(deps, created);
  const answers = created.map(({ keyedAnswer }) => keyedAnswer);
  const rows: readonly { session_id: string; is_stored?: boolean }[] = answers.some(
    (answer) => answer !== undefined,
  )
    ? await queryable.query(insertKeyedSessions, {
        ...values,
        ...keyedAnswerValues(answers, values.event_body),
        ...sharedKeyValues(distinctTerms(created).first.map(({ keyedAnswer }) => keyedAnswer)),
      })
    : await queryable.query(insertSessions, values);
  const stored = new Map(rows.map((row) => [row.session_id, row.is_stored !== false]));
  return created.map(({ session }) => {
    const isStored = stored.get(session.sessionId);
    if (isStored === undefined) return 'terms_changed';
    return isStored ? 'stored' : 'key_used';
  });
}

/** Values of `draftColumns` and `sharedParameters`. */
export function insertValues(
  deps: Pick<SessionContext, 'random' | 'origin'>,
  created: readonly NewSession[],
) {
  const terms = distinctTerms(created);
  return {
    terms_place: terms.places,
    ...sessionValues(created),
    ...firstEventValues(
      deps.random,
      created.map((each) => createdEvent(each, deps.origin)),
    ),
    ...productValues(created),
    ...termsValues(terms.first.map(({ session }) => session)),
  };
}

function createdEvent({ session, eventDataJson }: NewSession, origin: string) {
  const data = sessionEventData({ session, order: undefined }, origin, eventDataJson);
  return { type: 'session.created', ...data, at: session.createdAt } as const;
}

/** Each set of terms once: the place of each session's, from 1, and the first session that has them. */
function distinctTerms(created: readonly NewSession[]) {
  const places = new Map<string, number>();
  const first: NewSession[] = [];
  return {
    places: created.map((each) => {
      const key = termsKey(each);
      const known = places.get(key);
      if (known !== undefined) return known;
      places.set(key, first.push(each));
      return first.length;
    }),
    first,
  };
}

/** Equal for sessions whose terms are equal. No text in here holds a line feed: they are ids, addresses and names of tokens. */
function termsKey({ session, keyedAnswer }: NewSession): string {
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
    keyedAnswer?.request.path,
    keyedAnswer?.request.caller.callerId,
  ].join('\n');
}

function termsValues(sessions: readonly StoredSession[]) {
  return {
    merchant_id: sessions.map((session) => session.merchantId),
    session_type: sessions.map((session) => session.sessionType),
    business_id: sessions.map((session) => session.businessId),
    business_type: sessions.map((session) => session.businessType),
    account_id: sessions.map((session) => session.accountId),
    account_version: sessions.map((session) => session.accountVersion),
    recipient: sessions.map((session) => session.recipient),
    settlement_token: sessions.map((session) => session.settlementToken),
    fee_model: sessions.map((session) => session.feeModel),
    payer_email_required: sessions.map((session) => session.payerEmailRequired),
    channel_id: sessions.map((session) => session.channelId),
    intended_token: sessions.map((session) => session.intendedToken),
  };
}

/** Who sells what, then each product once: sessions of one moment often sell the same ones. */
function productValues(created: readonly NewSession[]) {
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
  return {
    sellers: sessions,
    sold,
    productIds: seen.map(({ productId }) => productId),
    productVersions: seen.map(({ version }) => version),
  };
}

/** One array for each column. */
function sessionValues(created: readonly NewSession[]) {
  const sessions = created.map(({ session }) => session);
  return {
    intended_payer: sessions.map((session) => (session.intendedPayer === '' ? null : session.intendedPayer)),
    session_id: sessions.map((session) => session.sessionId),
    client_code: sessions.map((session) => session.clientCode),
    amount: sessions.map((session) => session.amount),
    line_items: sessions.map((session) => JSON.stringify(session.items)),
    success_url: sessions.map((session) => session.successUrl),
    cancel_url: sessions.map((session) => session.cancelUrl),
    auto_return: sessions.map((session) => session.autoReturn),
    custom_success_text: sessions.map((session) => session.customSuccessText),
    metadata: sessions.map((session) => session.metadata),
    meta_data: sessions.map((session) => session.metaData),
    salt: created.map(({ salt }) => salt),
    chosen_total: sessions.map((session) => session.chosenTotal ?? null),
    expiration_time: sessions.map((session) => session.expirationTime),
    created_at: sessions.map((session) => session.createdAt),
  };
}
