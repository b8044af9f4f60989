import { createHash } from 'node:crypto';
import { canonicalJson } from '@florin/protocol/canonical-json.ts';
import { Refusal } from '@florin/protocol/error.ts';
import type { FeeModel } from '@florin/protocol/fee.ts';
import { base62Of, newId } from '@florin/protocol/id.ts';
import type { LineItem } from '@florin/protocol/line-item.ts';
import { type MicroUsd, microUsd } from '@florin/protocol/money.ts';
import type { Hex } from '@florin/protocol/order.ts';
import type { SessionCreateBody, SessionStatus } from '@florin/protocol/session.ts';
import type { Token } from '@florin/protocol/token.ts';
import { toHex } from 'viem';
import type { Chains } from '#chains/chain.ts';
import { batched } from '#db/batch.ts';
import type { Queryable, Transaction } from '#db/database.ts';
import type { StoredLink } from '#links/stored-link.ts';
import { IdempotencyKeyUsed } from '#merchants/idempotency.ts';
import { checkoutTerms } from './checkout-terms.ts';
import { findOrders } from './order.ts';
import type { FeeRates } from './quote.ts';
import {
  expirableSigned,
  expirableUnsigned,
  lockSessionById,
  openSessionsOfPayer,
  sessionById,
  sessionCount,
  sessionCountByStatus,
  sessionPage,
  sessionPageByStatus,
  sessionsByIds,
} from './session.sql.ts';
import { type SessionInserter, sessionInserter } from './session-insert.ts';
import type { StoredSessionView } from './session-json.ts';
import { moveSession, type SessionMoveDeps } from './session-move.ts';
import { parseSession } from './session-row.ts';
import type { StoredSession } from './stored-session.ts';
import { type TermsReader, termsReader } from './terms-reader.ts';

export interface SessionDeps extends SessionMoveDeps {
  readonly chains: Chains;
  readonly rates: FeeRates;
  /** Looks up accounts and products for many requests together; alone when absent. */
  readonly termsReader?: TermsReader;
}

/** Sessions of links and of the AI protocol live this long, in seconds. */
const linkSessionSeconds = 1800;

/** What a new session is made of, checked already. */
interface SessionDraft {
  readonly merchantId: string;
  readonly sessionType: StoredSession['sessionType'];
  readonly businessId: string;
  readonly account: { readonly accountId: string; readonly version: string; readonly address: Hex };
  readonly settlementToken: string;
  readonly feeModel: FeeModel;
  readonly amount: MicroUsd;
  readonly items: readonly LineItem[];
  readonly payerEmailRequired: boolean;
  readonly successUrl: string;
  readonly metadata: string;
  readonly intendedPayer: string;
  readonly intendedToken: string;
  readonly chosenTotal: MicroUsd | undefined;
  readonly expirationTime: Date;
}

/** Refusals that an account which has changed since it was read would explain. */
const staleRefusals: ReadonlySet<string> = new Set(['account_removed', 'settlement_token_not_enabled']);

/**
 * Creates a checkout session for a merchant's request, with its event. Refuses unknown or removed accounts, tokens that
 * are not configured or not enabled, products that are missing or archived, and totals or expiries out of range.
 */
export async function createCheckoutSession(
  queryable: Queryable,
  deps: SessionDeps,
  request: { merchantId: string; body: SessionCreateBody; metadataText: string },
  insert: SessionInserter = sessionInserter(queryable, deps),
): Promise<StoredSession> {
  const reader = deps.termsReader ?? termsReader(queryable);
  try {
    return await createByTerms(reader, deps, request, insert);
  } catch (error) {
    const isStale = error instanceof Refusal && staleRefusals.has(error.slug);
    if (!isStale || !reader.forget(request.body.accountId)) throw error;
    return createByTerms(reader, deps, request, insert);
  }
}

async function createByTerms(
  reader: TermsReader,
  deps: SessionDeps,
  request: { merchantId: string; body: SessionCreateBody; metadataText: string },
  insert: SessionInserter,
): Promise<StoredSession> {
  const { merchantId, body } = request;
  const terms = await checkoutTerms(reader, deps, merchantId, body);
  return store(deps, insert, {
    ...terms,
    merchantId,
    sessionType: 'chk',
    businessId: '',
    settlementToken: body.settlementToken,
    feeModel: body.feeModel ?? 1,
    payerEmailRequired: body.payerEmailRequired === 1,
    successUrl: body.successUrl ?? '',
    metadata: request.metadataText,
    intendedPayer: '',
    intendedToken: '',
    chosenTotal: undefined,
  });
}

/**
 * Creates the session that a payer's signed authorization asks for, from a link's current terms. The caller has
 * checked the link's state and version, the token and the amount.
 */
export async function createLinkSession(
  transaction: Transaction,
  deps: SessionDeps,
  request: { link: StoredLink; payer: Hex; token: Token; paymentValue: MicroUsd; chosenTotal?: MicroUsd },
): Promise<StoredSession> {
  const { link, payer, token } = request;
  const items =
    request.chosenTotal === undefined
      ? link.items
      : link.items.map((item) => ({ ...item, unitPrice: Number(request.paymentValue) }));
  return store(deps, sessionInserter(transaction, deps), {
    merchantId: link.merchantId,
    sessionType: 'ai_checkout',
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
    metadata: '{}',
    intendedPayer: payer,
    intendedToken: token.tokenId,
    chosenTotal: request.chosenTotal,
    expirationTime: new Date(deps.clock.now().getTime() + linkSessionSeconds * 1000),
  });
}

/**
 * Commits to the line items, so that a receipt can be checked offline, and to a secret salt, so that nobody can guess it:
 * `sha256(sha256(canonical JSON of the items) || salt)`.
 */
export function metaDataOf(items: readonly LineItem[], salt: Hex): Hex {
  const itemsHash = createHash('sha256').update(canonicalJson(items)).digest();
  return `0x${createHash('sha256')
    .update(itemsHash)
    .update(Buffer.from(salt.slice(2), 'hex'))
    .digest('hex')}`;
}

/**
 * One filter for a merchant's audits: the hash of account, account version and settlement token, as canonical JSON in
 * this order.
 */
export function channelIdOf(accountId: string, version: string, settlementToken: string): Hex {
  const text = canonicalJson([accountId, version, settlementToken]);
  return `0x${createHash('sha256').update(text).digest('hex')}`;
}

/** Completes a draft with its ids, secrets and on-chain key, and stores it. Refuses when the account is gone by now. */
async function store(
  deps: SessionDeps,
  insert: SessionInserter,
  draft: SessionDraft,
): Promise<StoredSession> {
  const { account, ...terms } = draft;
  const salt = toHex(deps.random.bytes(32));
  const session: StoredSession = {
    ...terms,
    sessionId: newId('session', deps.random.bytes),
    businessType: draft.businessId === '' ? '' : 'payment_link',
    clientCode: base62Of(deps.random.bytes(32)),
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
    orderId: '',
    initiateTx: '',
    completeTx: '',
    paymentSucceededAt: undefined,
    settlementSucceededAt: undefined,
    refundedAmount: microUsd(0n),
    createdAt: deps.clock.now(),
  };
  const outcome = await insert({ session, salt });
  if (outcome === 'account_gone') throw new Refusal('account_removed', account.accountId);
  if (outcome === 'key_used') throw new IdempotencyKeyUsed('the key of this session was used before');
  return session;
}

/** One session by id, whoever asks; undefined when there is none. */
export async function findSession(
  queryable: Queryable,
  sessionId: string,
): Promise<StoredSession | undefined> {
  const rows = await queryable.query(sessionById, [sessionId]);
  return rows[0] === undefined ? undefined : parseSession(rows[0]);
}

/** One session by id, its row locked until the transaction ends. */
export async function lockSession(
  transaction: Transaction,
  sessionId: string,
): Promise<StoredSession | undefined> {
  const rows = await transaction.query(lockSessionById, [sessionId]);
  return rows[0] === undefined ? undefined : parseSession(rows[0]);
}

/** Cancels an unsigned session of the merchant. Refuses with 100201, 100203, 100204, 100205 or 100207. */
export async function cancelSession(
  transaction: Transaction,
  deps: SessionMoveDeps,
  request: { merchantId: string; sessionId: string },
): Promise<void> {
  const session = await lockSession(transaction, request.sessionId);
  if (session === undefined || session.merchantId !== request.merchantId)
    throw new Refusal('session_not_found');
  if (session.status === 'cancelled') throw new Refusal('session_cancelled');
  if (session.status === 'expired') throw new Refusal('session_expired');
  if (session.status !== 'initialized') throw new Refusal('session_paid');
  const moved = await moveSession(transaction, deps, session, 'cancel');
  if (moved === undefined) throw new Refusal('session_already_signed');
}

/** Finds one session by id. */
export type SessionFinder = (sessionId: string) => Promise<StoredSession | undefined>;

/** Look-ups that gather while two are under way share the next round trip (bench/README.md). */
const groupLimits = { maxSize: 64, maxInFlight: 2, maxWaiting: 10_000 };

/** A finder for many requests at once: they share round trips. */
export function groupSessionFinder(queryable: Queryable): SessionFinder {
  return batched(async (sessionIds: readonly string[]) => {
    const found = await findSessions(queryable, sessionIds);
    return sessionIds.map((sessionId) => found.get(sessionId));
  }, groupLimits);
}

/** Several sessions by id in one round trip; unknown ids are left out. */
export async function findSessions(
  queryable: Queryable,
  sessionIds: readonly string[],
): Promise<ReadonlyMap<string, StoredSession>> {
  const rows = await queryable.query(sessionsByIds, [sessionIds]);
  return new Map(rows.map((row) => [row.session_id, parseSession(row)]));
}

/** One session of the merchant with its paid order; undefined when the merchant has no such session. */
export async function findSessionView(
  queryable: Queryable,
  request: { merchantId: string; sessionId: string },
  find: SessionFinder = (sessionId) => findSession(queryable, sessionId),
): Promise<StoredSessionView | undefined> {
  const session = await find(request.sessionId);
  if (session === undefined || session.merchantId !== request.merchantId) return undefined;
  return (await withOrders(queryable, [session]))[0];
}

/** One page of the merchant's sessions, newest first, with the exact total; all statuses when none is given. */
export async function listSessionViews(
  queryable: Queryable,
  request: { merchantId: string; status?: SessionStatus; page: number; size: number },
): Promise<{ total: number; views: StoredSessionView[] }> {
  const { merchantId, status, size } = request;
  const offset = (request.page - 1) * size;
  const [counts, rows] = await (status === undefined
    ? Promise.all([
        queryable.query(sessionCount, [merchantId]),
        queryable.query(sessionPage, [merchantId, size, offset]),
      ])
    : Promise.all([
        queryable.query(sessionCountByStatus, [merchantId, status]),
        queryable.query(sessionPageByStatus, [merchantId, status, size, offset]),
      ]));
  return {
    total: Number(counts[0]?.total ?? 0n),
    views: await withOrders(queryable, rows.map(parseSession)),
  };
}

async function withOrders(
  queryable: Queryable,
  sessions: readonly StoredSession[],
): Promise<StoredSessionView[]> {
  const orderIds = sessions.map((session) => session.orderId).filter((orderId) => orderId !== '');
  const orders = orderIds.length === 0 ? [] : await findOrders(queryable, orderIds);
  const byId = new Map(orders.map((order) => [order.orderId as string, order]));
  return sessions.map((session) => ({ session, order: byId.get(session.orderId) }));
}

/** How many payable sessions a payer has opened through the AI protocol. */
export async function openSessionCount(queryable: Queryable, payer: Hex, now: Date): Promise<number> {
  const rows = await queryable.query(openSessionsOfPayer, [payer, now]);
  return Number(rows[0]?.open ?? 0n);
}

/**
 * Expires up to `limit` sessions that nothing can pay any more: unsigned ones by our clock, signed ones by final blocks
 * later than every signed order's deadline. Returns how many.
 */
export async function expireSessions(
  transaction: Transaction,
  deps: SessionMoveDeps,
  limit: number,
): Promise<number> {
  const unsigned = await transaction.query(expirableUnsigned, [deps.clock.now(), limit]);
  const signed = await transaction.query(expirableSigned, [limit]);
  for (const row of [...unsigned, ...signed]) {
    await moveSession(transaction, deps, parseSession(row), 'expire');
  }
  return unsigned.length + signed.length;
}
