import { hash } from 'node:crypto';
import { batchedByKey, type Database, type Queryable, type Transaction } from '@florin/pg';
import { canonicalJson } from '@florin/protocol/canonical-json.ts';
import { Refusal } from '@florin/protocol/error.ts';
import { newId, randomBase62 } from '@florin/protocol/id.ts';
import type { LineItem, ProductData } from '@florin/protocol/line-item.ts';
import { type MicroUsd, microUsd } from '@florin/protocol/money.ts';
import type { Hex } from '@florin/protocol/order.ts';
import { shopReturnOf } from '@florin/protocol/shop-return.ts';
import type { Token } from '@florin/protocol/token.ts';
import type { StoredLink } from '#links/stored-link.ts';
import { IdempotencyKeyUsed } from '#merchants/idempotency.ts';
import { findOrder } from '#orders/order.ts';
import { type CheckoutRequest, type CheckoutTerms, checkoutTerms } from './checkout-terms.ts';
import type { SessionContext, SessionMoveContext } from './context.ts';
import {
  expirableSigned,
  expirableUnsigned,
  lockSessionById,
  payableOrders,
  sessionById,
  sessionStatesByIds,
  sessionsByIds,
  updateShownOrder,
} from './session.sql.ts';
import { type NewSession, type SessionInserter, sessionInserter } from './session-insert.ts';
import type { StoredSessionView } from './session-json.ts';
import { moveSession } from './session-move.ts';
import { parseSession, parseSessionState } from './session-row.ts';
import type { SessionState, StoredSession } from './stored-session.ts';
import { type TermsReader, termsReader } from './terms-reader.ts';

/** A request for a session of a link. */
interface LinkSessionRequest {
  readonly link: StoredLink;
  /** The payer who signed the creation, and the token; both or none. */
  readonly payer?: Hex;
  readonly token?: Token;
  readonly paymentValue: MicroUsd;
  /** Custom links: the total that the payer chose. */
  readonly chosenTotal?: MicroUsd | undefined;
}

/** Sessions of links and of the AI protocol live this long, in seconds. */
const linkSessionSeconds = 1800;

/** The checked terms of a new session. */
type SessionDraft = Pick<
  StoredSession,
  | 'merchantId'
  | 'sessionType'
  | 'businessId'
  | 'settlementToken'
  | 'feeModel'
  | 'amount'
  | 'items'
  | 'payerEmailRequired'
  | 'successUrl'
  | 'cancelUrl'
  | 'autoReturn'
  | 'customSuccessText'
  | 'metadata'
  | 'intendedPayer'
  | 'intendedToken'
  | 'chosenTotal'
  | 'expirationTime'
> & { readonly account: CheckoutTerms['account'] };

/**
 * Creates a checkout session for a merchant's request, with its event. Refuses unknown or removed accounts, tokens that
 * are not configured or not enabled, products that are missing or archived, and totals or expiries out of range.
 */
export async function createCheckoutSession(
  queryable: Queryable,
  deps: SessionContext,
  request: CheckoutRequest,
  insert: SessionInserter = sessionInserter(queryable, deps),
): Promise<StoredSession> {
  const reader = deps.termsReader ?? termsReader(queryable);
  try {
    return await createByTerms(reader, deps, request, insert);
  } catch (error) {
    // Cached terms may be stale: read them again before refusing.
    if (!(error instanceof Refusal) || reader.fresh === undefined) throw error;
    return createByTerms(reader.fresh, deps, request, insert);
  }
}

async function createByTerms(
  reader: TermsReader,
  deps: SessionContext,
  request: CheckoutRequest,
  insert: SessionInserter,
): Promise<StoredSession> {
  const { merchantId, body } = request;
  const { products, ...terms } = await checkoutTerms(reader, deps, request);
  // Fresh terms are not checked again: a product that changes all the time would never be sold.
  const isCached = reader.fresh !== undefined;
  const checked: SessionInserter = isCached ? (created) => insert({ ...created, products }) : insert;
  return store(deps, checked, {
    ...terms,
    merchantId,
    sessionType: 'chk',
    businessId: '',
    settlementToken: body.settlementToken,
    feeModel: body.feeModel ?? 1,
    payerEmailRequired: body.payerEmailRequired === 1,
    successUrl: body.successUrl ?? '',
    ...shopReturnOf(body),
    customSuccessText: body.customSuccessText ?? '',
    metadata: request.metadataText,
    intendedPayer: '',
    intendedToken: '',
    chosenTotal: undefined,
  });
}

/**
 * Creates a session from a link's current terms: for a payer's signed authorization, or without a payer for the link's
 * hosted page. The caller has checked the link's state and version, the token and the amount.
 */
export async function createLinkSession(
  transaction: Transaction,
  deps: SessionContext,
  request: LinkSessionRequest,
): Promise<StoredSession> {
  return store(deps, sessionInserter(transaction, deps), linkSessionDraft(deps, request));
}

/**
 * The session that `createLinkSession` would store. The same clock and randomness give the same session.
 */
export function draftLinkSession(deps: SessionContext, request: LinkSessionRequest): NewSession {
  return completed(deps, linkSessionDraft(deps, request));
}

function linkSessionDraft(deps: SessionContext, request: LinkSessionRequest): SessionDraft {
  const { link, payer, token } = request;
  const items =
    link.linkType === 'fixed'
      ? link.items
      : link.items.map((item) => ({ ...item, unitPrice: Number(request.paymentValue) }));
  return {
    merchantId: link.merchantId,
    sessionType: payer === undefined ? 'lnk' : 'ai_checkout',
    businessId: link.linkId,
    account: {
      accountId: link.account.accountId,
      version: link.account.version,
      address: link.account.accountAddress,
    },
    settlementToken: link.settlementToken,
    feeModel: link.feeModel,
    amount: request.paymentValue,
    items,
    payerEmailRequired: link.payerEmailRequired,
    successUrl: link.successUrl,
    cancelUrl: link.cancelUrl,
    autoReturn: link.autoReturn,
    // The page shows the link's present text.
    customSuccessText: '',
    metadata: '{}',
    intendedPayer: payer ?? '',
    intendedToken: token?.tokenId ?? '',
    chosenTotal: request.chosenTotal,
    expirationTime: new Date(deps.clock.now().getTime() + linkSessionSeconds * 1000),
  };
}

/**
 * Commits to the line items, so that a receipt can be checked offline, and to a secret salt, so that it cannot be guessed:
 * `sha256(sha256(canonical JSON of the items) || salt)`.
 */
export function metaDataOf(items: readonly LineItem[], salt: Hex): Hex {
  for (const { productData } of items) {
    if (productData !== undefined && !productTexts.has(productData))
      productTexts.set(productData, canonicalJson(productData));
  }
  const itemsHash = hash('sha256', canonicalJson(items, productTexts), 'buffer');
  return `0x${hash('sha256', Buffer.concat([itemsHash, Buffer.from(salt.slice(2), 'hex')]))}`;
}

// Sessions share the data of a cached product. It never changes, and is most of the hashed bytes of an item.
const productTexts = new WeakMap<ProductData, string>();

/**
 * One filter for a merchant's audits: the hash of account, account version and settlement token, as canonical JSON in
 * this order.
 */
export function channelIdOf(accountId: string, version: string, settlementToken: string): Hex {
  return `0x${hash('sha256', canonicalJson([accountId, version, settlementToken]))}`;
}

/** Completes a draft and stores it. Refuses when the account was removed since. */
async function store(
  deps: SessionContext,
  insert: SessionInserter,
  draft: SessionDraft,
): Promise<StoredSession> {
  const created = completed(deps, draft);
  const outcome = await insert(created);
  if (outcome === 'terms_changed') throw new Refusal('account_removed', draft.account.accountId);
  if (outcome === 'key_used') throw new IdempotencyKeyUsed('the key of this session was used before');
  return created.session;
}

/** Completes a draft with its ids, secrets and on-chain key. */
function completed(deps: SessionContext, draft: SessionDraft): NewSession {
  const { account, ...terms } = draft;
  const salt: Hex = `0x${Buffer.from(deps.random.bytes(32)).toString('hex')}`;
  const session: StoredSession = {
    ...terms,
    sessionId: newId('session', deps.random.bytes),
    businessType: draft.businessId === '' ? '' : 'payment_link',
    clientCode: randomBase62(deps.random.bytes),
    accountId: account.accountId,
    accountVersion: account.version,
    recipient: account.address,
    metaData: metaDataOf(draft.items, salt),
    channelId: channelIdOf(account.accountId, account.version, draft.settlementToken),
    signedOnce: false,
    status: 'initialized',
    pendingReason: '',
    payer: '',
    payerEmail: '',
    paidToken: '',
    receiptId: '',
    receiptNames: undefined,
    orderId: '',
    isLate: false,
    initiateTx: '',
    completeTx: '',
    paymentSucceededAt: undefined,
    settlementSucceededAt: undefined,
    refundedAmount: microUsd(0n),
    shownOrderId: '',
    createdAt: deps.clock.now(),
  };
  return { session, salt };
}

/** One session by id, of any merchant; undefined when there is none. */
export async function findSession(
  queryable: Queryable,
  sessionId: string,
): Promise<StoredSession | undefined> {
  const rows = await queryable.query(sessionById, { sessionId });
  return rows[0] === undefined ? undefined : parseSession(rows[0]);
}

/** One session by id. Its row is locked until the transaction ends. */
export async function lockSession(
  transaction: Transaction,
  sessionId: string,
): Promise<StoredSession | undefined> {
  const lock = () => transaction.query(lockSessionById, { sessionId });
  // A session that moved to the archive while the lock was waited for is found by the second statement.
  const row = (await lock())[0] ?? (await lock())[0];
  return row === undefined ? undefined : parseSession(row);
}

/**
 * Cancels a session of the merchant that has no signed order, or none that can still be paid. Refuses with 100201,
 * 100203, 100204, 100205 or 100207.
 */
export async function cancelSession(
  transaction: Transaction,
  deps: SessionMoveContext,
  request: { merchantId: string; sessionId: string },
): Promise<void> {
  const session = await lockSession(transaction, request.sessionId);
  if (session === undefined || session.merchantId !== request.merchantId)
    throw new Refusal('session_not_found');
  if (session.status === 'cancelled') throw new Refusal('session_cancelled');
  if (session.status === 'expired') throw new Refusal('session_expired');
  if (session.status !== 'initialized') throw new Refusal('session_paid');
  const isLapsed = session.signedOnce && session.initiateTx === '' && (await areLapsed(transaction, session));
  const unsigned = isLapsed ? await moveSession(transaction, deps, session, 'orders_lapsed') : session;
  const moved = await moveSession(transaction, deps, unsigned ?? session, 'cancel');
  if (moved === undefined) throw new Refusal('session_already_signed');
}

async function areLapsed(transaction: Transaction, { sessionId }: StoredSession): Promise<boolean> {
  const [row] = await transaction.query(payableOrders, { sessionId });
  return row?.is_any === false;
}

/** Finds one session by id, in the scope of a merchant. */
export type SessionFinder = (merchantId: string, sessionId: string) => Promise<StoredSession | undefined>;

/** Look-ups of one merchant that arrive while two are under way share the next round trip (lab/bench/README.md). */
const groupLimits = { maxSize: 64, maxInFlight: 2, maxWaiting: 10_000 };

/** A finder for many requests at once: those of one merchant share round trips. */
export function groupSessionFinder(db: Pick<Database, 'inScope'>): SessionFinder {
  return batchedByKey((merchantId) => {
    const narrowed = db.inScope(merchantId);
    return async (sessionIds: readonly string[]) => {
      // PostgreSQL plans a look-up by a list each time, which costs as much as the look-up.
      const [only, ...others] = sessionIds;
      if (only !== undefined && others.length === 0) return [await findSession(narrowed, only)];
      const found = await findSessions(narrowed, sessionIds);
      return sessionIds.map((sessionId) => found.get(sessionId));
    };
  }, groupLimits);
}

/** Sessions by id in one round trip. Omits unknown ids. */
export async function findSessions(
  queryable: Queryable,
  sessionIds: readonly string[],
): Promise<ReadonlyMap<string, StoredSession>> {
  const rows = await queryable.query(sessionsByIds, { sessionIds });
  return new Map(rows.map((row) => [row.session_id, parseSession(row)]));
}

/** The same without items and metadata. */
export async function findSessionStates(
  queryable: Queryable,
  sessionIds: readonly string[],
): Promise<ReadonlyMap<string, SessionState>> {
  const rows = await queryable.query(sessionStatesByIds, { sessionIds });
  return new Map(rows.map((row) => [row.session_id, parseSessionState(row)]));
}

/** Sets the order whose deposit address the pages of an unpaid session show; empty: none. */
export async function showDepositOf(queryable: Queryable, sessionId: string, orderId: string): Promise<void> {
  await queryable.query(updateShownOrder, { sessionId, orderId });
}

/** One session of the merchant with its paid order; undefined when the merchant has no such session. */
export async function findSessionView(
  queryable: Queryable,
  request: { merchantId: string; sessionId: string },
  find: SessionFinder = (_merchantId, sessionId) => findSession(queryable, sessionId),
): Promise<StoredSessionView | undefined> {
  const session = await find(request.merchantId, request.sessionId);
  if (session === undefined || session.merchantId !== request.merchantId) return undefined;
  return { session, order: session.orderId === '' ? undefined : await findOrder(queryable, session.orderId) };
}

/**
 * Expires sessions that cannot be paid any more: unsigned ones by our clock, signed ones by final blocks later than every
 * signed order's deadline. At most `limit` of each kind, and as many as the limit of bytes allows. Returns how many.
 */
export async function expireSessions(
  transaction: Transaction,
  deps: SessionMoveContext,
  limit: number,
): Promise<number> {
  const unsigned = await transaction.query(expirableUnsigned, { now: deps.clock.now(), limit });
  const signed = await transaction.query(expirableSigned, { limit });
  for (const row of [...unsigned, ...signed]) {
    await moveSession(transaction, deps, parseSession(row), 'expire');
  }
  return unsigned.length + signed.length;
}
