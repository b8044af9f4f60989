import type { Queryable, ScopedDatabase, Transaction } from '@florin/pg';
import { fieldRefusal, Refusal } from '@florin/protocol/error.ts';
import type { ExceptionKind, PaymentException } from '@florin/protocol/exception.ts';
import { merchantApi } from '@florin/protocol/merchant-api.ts';
import { metadataLimits, type SessionCreateBody, type SessionStatus } from '@florin/protocol/session.ts';
import { noIntake } from '#catalog/images/intake.ts';
import { itemImages } from '#catalog/images/item-images.ts';
import { collectedOf, depositsOf, depositsOfPage } from '#deposits/session-deposits.ts';
import { findExceptions } from '#exceptions/exception.ts';
import { linkNames } from '#links/link-name.ts';
import { newReturns } from '#links/payer-place.ts';
import { assertSessionAmount, countDayAmount } from '#merchants/api-key-limits.ts';
import type { KeyedAnswer } from '#merchants/idempotency.ts';
import { searchSessions } from '#sessions/search.ts';
import { cancelSession, createCheckoutSession, findSessionView } from '#sessions/session.ts';
import { type NewSession, type SessionInserter, sessionInserter } from '#sessions/session-insert.ts';
import {
  type SessionJsonOptions,
  type StoredSessionView,
  sessionJson,
  sessionViewJson,
} from '#sessions/session-json.ts';
import { listSessionViews } from '#sessions/session-list.ts';
import type { StoredSession } from '#sessions/stored-session.ts';
import { termsReader } from '#sessions/terms-reader.ts';
import { jsonDepth, rawMember } from '../body.ts';
import { type RawJson, rawJson } from '../raw-json.ts';
import type { OperationContext } from './context.ts';
import {
  keyedRequestOf,
  type MerchantCaller,
  type MerchantRoutes,
  once,
  onceInStatement,
  replyOfEarlier,
} from './once.ts';
import { listReply } from './page.ts';
import { assertMayShow } from './tell-owners.ts';

const { routes } = merchantApi;

/** Checkout sessions: create, cancel, read, and a list for every status. */
export function addSessionRoutes(add: MerchantRoutes, deps: OperationContext): void {
  const images = itemImages(deps.images ?? noIntake, deps.clock);

  add.bare(routes.createCheckoutSession, async (call, db) => {
    const { body, bodyText, caller } = call;
    const { merchantId } = caller;
    const keyed = keyedRequestOf(routes.createCheckoutSession, call);
    const request = { merchantId, body, metadataText: metadataOf(bodyText) };
    const urls = imageUrlsOf(body);
    if (urls.length > 0) {
      const earlier = await replyOfEarlier(db, deps, keyed);
      if (earlier !== undefined) return earlier;
    }
    const creation: Creation = {
      caller,
      request:
        urls.length === 0
          ? request
          : { ...request, hostedImages: await images.take(db, { merchantId, urls }) },
      write: (session) => sessionJson(session, viewFor(deps, caller)),
    };
    // What a member does is recorded in the transaction that does it.
    if (caller.limits.maxDayAmount !== undefined || caller.kind === 'member') {
      const work = (transaction: Transaction) =>
        add.recorded(transaction, { route: routes.createCheckoutSession, call }, async () => {
          // Shops name a page of their own for each session, so only members are asked.
          if (caller.lacksProof === true)
            assertMayShow(caller, await newReturns(transaction, merchantId, body));
          return createCounted(transaction, deps, creation);
        });
      return keyed === undefined ? db.transaction(work) : once(db, deps, keyed, work);
    }
    if (keyed === undefined) return createInGroup(db, deps, creation);
    return onceInStatement(db, deps, keyed, async (answerFor) => {
      await createInGroup(db, deps, creation, answerFor);
    });
  });

  add.action(routes.cancelCheckoutSession, ({ body, caller: { merchantId } }, transaction) =>
    cancelSession(transaction, deps, { ...body, merchantId }),
  );

  add.read(routes.getSession, async ({ params: { sessionId }, caller }, db) => {
    const view = await findSessionView(db, { merchantId: caller.merchantId, sessionId }, deps.findSession);
    if (view === undefined) throw new Refusal('session_not_found', sessionId);
    const { deposits } = await depositsOf(db, deps, view.session);
    const isDeposit = (await collectedFor(db, caller, [view])).size > 0;
    const linkName = (await linkNamesFor(db, caller, [view])).get(view.session.businessId);
    const exceptions = (await unusedFor(db, caller, [view])).get(sessionId);
    const shown = { ...view, deposits, isDeposit, exceptions, linkName };
    return rawJson(sessionViewJson(shown, viewFor(deps, caller)));
  });

  add.query(routes.searchSessions, async ({ body, caller }, db) => {
    const { merchantId } = caller;
    const showsEmail = caller.permissions.has('payer_pii:read');
    if (body.payerEmail !== undefined && !showsEmail) {
      const slug = caller.kind === 'member' ? 'role_forbidden' : 'api_key_forbidden';
      throw new Refusal(slug, { param: 'payerEmail', detail: 'payerEmail needs payer_pii:read' });
    }
    const { page, portions } = await searchSessions(db, { merchantId, body, showsEmail });
    const sessions: RawJson[] = [];
    for await (const texts of shownViews(db, deps, { portions, caller }))
      sessions.push(...texts.map(rawJson));
    return { sessions, ...page };
  });

  for (const { route, status } of sessionLists) {
    add.list(route, async ({ params, query, caller }, db) => {
      const { merchantId } = caller;
      const { place, portions } = await listSessionViews(db, { ...params, ...query, merchantId, status });
      const shown = shownViews(db, deps, { portions, caller });
      return listReply({ ...place, ...params }, 'sessions', shown);
    });
  }
}

/** Portions of sessions as JSON texts, with what has arrived of payments that are incomplete. */
async function* shownViews(
  db: Queryable,
  deps: OperationContext,
  page: {
    readonly portions: AsyncIterable<readonly StoredSessionView[]>;
    readonly caller: MerchantCaller;
  },
): AsyncGenerator<readonly string[]> {
  for await (const portion of page.portions) {
    const deposits = await depositsOfPage(db, deps, portion);
    const collected = await collectedFor(db, page.caller, portion);
    const names = await linkNamesFor(db, page.caller, portion);
    const unused = await unusedFor(db, page.caller, portion);
    yield portion.map((view) => {
      const arrived = deposits.get(view.session.sessionId) ?? [];
      const isDeposit = collected.has(view.order?.orderId ?? '');
      const linkName = names.get(view.session.businessId);
      const exceptions = unused.get(view.session.sessionId);
      const shown = { ...view, deposits: arrived, isDeposit, exceptions, linkName };
      return sessionViewJson(shown, viewFor(deps, page.caller));
    });
  }
}

/** The orders that a deposit paid. The pages tell a payer from a refund address; the merchant API saves the statement. */
function collectedFor(
  db: Queryable,
  { kind }: MerchantCaller,
  views: readonly StoredSessionView[],
): Promise<ReadonlySet<string>> {
  const isPaid = ({ session }: StoredSessionView) => session.paymentSucceededAt !== undefined;
  const paid = kind === 'member' ? views.filter(isPaid) : [];
  return collectedOf(
    db,
    paid.flatMap(({ order }) => order?.orderId ?? []),
  );
}

/** Exceptions of a paid session whose money is beside the payment. The others are about the payment itself. */
const besidePayment: readonly ExceptionKind[] = ['duplicate', 'duplicate_settled', 'overpaid', 'wrong_token'];

/** Of a session that waits for its payment: what comes of the right token stands among its deposits. */
const besideOpenPayment: readonly ExceptionKind[] = ['wrong_token'];

function toldKinds(status: SessionStatus): readonly ExceptionKind[] | undefined {
  if (status === 'initialized') return besideOpenPayment;
  return isEndedUnpaid(status) ? undefined : besidePayment;
}

/** Money that came to sessions which ended unpaid, or to others beside their payments, by session. */
async function unusedFor(
  db: Queryable,
  { kind }: MerchantCaller,
  views: readonly StoredSessionView[],
): Promise<ReadonlyMap<string, readonly PaymentException[]>> {
  const signed = views.filter(({ session: { signedOnce } }) => signedOnce);
  if (kind !== 'member' || signed.length === 0) return new Map();
  const kinds = new Map(signed.map(({ session: { sessionId, status } }) => [sessionId, toldKinds(status)]));
  const found = await findExceptions(db, [...kinds.keys()]);
  // A second payment that was settled before it could go back is there twice.
  const settled = new Set(found.flatMap((each) => (each.kind === 'duplicate_settled' ? [each.orderId] : [])));
  const unused = found.filter(
    (each) =>
      !each.isGone &&
      kinds.get(each.sessionId)?.includes(each.kind) !== false &&
      !(each.kind === 'duplicate' && settled.has(each.orderId)),
  );
  return Map.groupBy(unused, ({ sessionId }) => sessionId);
}

function isEndedUnpaid(status: SessionStatus): boolean {
  return status === 'expired' || status === 'cancelled';
}

/** The names of the sessions' links, by id. The pages tell two links of one product by them. */
async function linkNamesFor(
  db: Queryable,
  { kind, merchantId }: MerchantCaller,
  views: readonly StoredSessionView[],
): Promise<ReadonlyMap<string, string>> {
  const linkIds = new Set(views.map(({ session }) => session.businessId).filter((linkId) => linkId !== ''));
  if (kind !== 'member' || linkIds.size === 0) return new Map();
  return linkNames(db, { merchantId, linkIds: [...linkIds] });
}

function viewFor({ origin }: OperationContext, { kind, permissions }: MerchantCaller): SessionJsonOptions {
  return {
    origin,
    // Keys that may be used in a browser never get the page's secret.
    showClientCode: kind === 'secret',
    showPayerEmail: permissions.has('payer_pii:read'),
  };
}

/** The images that one_time items name. The schema already checked that they are https URLs. */
function imageUrlsOf({ lineItems }: SessionCreateBody): string[] {
  return lineItems.flatMap(({ itemType, productData }) => {
    const url = itemType === 'one_time' ? (productData?.imageUrl ?? '') : '';
    return url === '' ? [] : [url];
  });
}

/** One request for a session, with the caller's view of its answer. */
interface Creation {
  readonly caller: MerchantCaller;
  readonly request: Parameters<typeof createCheckoutSession>[2];
  readonly write: (session: StoredSession) => string;
}

/**
 * Creates a session and stores its answer with the statement that concurrent requests share. The statement repeats
 * the earlier checks.
 */
async function createInGroup(
  db: ScopedDatabase,
  deps: OperationContext,
  { caller, request, write }: Creation,
  answerFor?: (sessionJson: string) => KeyedAnswer,
): Promise<RawJson> {
  let answer: RawJson | undefined;
  const insert: SessionInserter = (created: NewSession) => {
    assertSessionAmount(caller.limits, created.session.amount);
    const text = write(created.session);
    answer = rawJson(text);
    // A secret key's answer equals the event's data, so the text is rendered once for both.
    const eventDataJson = caller.kind === 'secret' ? `{"session":${text}}` : undefined;
    return deps.insertSession({ ...created, eventDataJson, keyedAnswer: answerFor?.(text) });
  };
  const session = await createCheckoutSession(db, deps, request, insert);
  return answer ?? rawJson(write(session));
}

/** Creates a session that counts towards a daily limit. Locks the key's counter only for the insert. */
async function createCounted(
  transaction: Transaction,
  deps: OperationContext,
  { caller, request, write }: Creation,
): Promise<RawJson> {
  const { callerId: keyId, limits } = caller;
  const insert: SessionInserter = async (created) => {
    const { amount } = created.session;
    assertSessionAmount(limits, amount);
    if (limits.maxDayAmount !== undefined) {
      await countDayAmount(transaction, deps, { keyId, maxDayAmount: limits.maxDayAmount, amount });
    }
    return sessionInserter(transaction, deps)(created);
  };
  // Reads use this connection: waiting for another one while holding it would deadlock a full pool.
  const ownDeps = { ...deps, termsReader: termsReader(transaction) };
  return rawJson(write(await createCheckoutSession(transaction, ownDeps, request, insert)));
}

const sessionLists: readonly { route: typeof routes.listSessions; status?: SessionStatus }[] = [
  { route: routes.listSessions },
  { route: routes.listInitializedSessions, status: 'initialized' },
  { route: routes.listPaidSessions, status: 'paid' },
  { route: routes.listSettlingSessions, status: 'settling' },
  { route: routes.listCompletedSessions, status: 'completed' },
  { route: routes.listCancelledSessions, status: 'cancelled' },
  { route: routes.listExpiredSessions, status: 'expired' },
  { route: routes.listSettlementPendingSessions, status: 'settlement_pending' },
];

/** The merchant's metadata exactly as sent, `{}` when absent. The schema already checked that it is an object. */
function metadataOf(bodyText: string): string {
  const text = rawMember(bodyText, 'metadata');
  if (text === undefined) return '{}';
  if (Buffer.byteLength(text) > metadataLimits.bytes) {
    throw fieldRefusal('metadata', `must have at most ${metadataLimits.bytes} bytes`);
  }
  if (jsonDepth(text) > metadataLimits.depth) {
    throw fieldRefusal('metadata', `must not nest deeper than ${metadataLimits.depth} levels`);
  }
  return text;
}
