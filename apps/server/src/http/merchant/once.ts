import type { Database, Queryable, ScopedDatabase, Transaction } from '@florin/pg';
import { Refusal } from '@florin/protocol/error.ts';
import type { Route } from '@florin/protocol/route.ts';
import type { ApiKeyIdentity } from '#merchants/api-key.ts';
import {
  bodyHashOf,
  claimOf,
  findAnswer,
  holdIdempotencyKey,
  type IdempotencyClaim,
  type IdempotencyDeps,
  IdempotencyKeyUsed,
  inFlight,
  type KeyedRequest,
  storeAnswer,
} from '#merchants/idempotency.ts';
import { envelope } from '../envelope.ts';
import type { RawJson } from '../raw-json.ts';
import { type AddRoute, type Call, FinishedReply, type ReplyData } from '../route-handler.ts';

/** Who calls the merchant API, and the header with which a request is safe to repeat. */
export interface MerchantCaller extends ApiKeyIdentity {
  readonly idempotencyKey: string | undefined;
}

/** All that the merchant API may do with the database: narrow it to the caller. */
export type MerchantDatabases = Pick<Database, 'inScope'>;

export interface MerchantRouteDeps extends IdempotencyDeps {
  readonly db: MerchantDatabases;
}

/** Adds a route whose handler gets the database in its caller's scope, and nothing wider. */
type AddMerchantRoute = <R extends Route>(
  route: R,
  handle: (call: Call<R, MerchantCaller>, db: ScopedDatabase) => Promise<ReplyData<R> | FinishedReply>,
) => void;

/** How the resources of the merchant API add their routes. */
export interface MerchantRoutes {
  /** A GET. */
  readonly read: AddMerchantRoute;
  /** A POST that sees to its idempotency key by itself. */
  readonly bare: AddMerchantRoute;
  /** A POST that only reads. */
  readonly query: <R extends Route>(
    route: R,
    handle: (call: Call<R, MerchantCaller>, queryable: Queryable) => Promise<ReplyData<R>>,
  ) => void;
  /** A POST that changes something, all of it in the one transaction given. */
  readonly change: <R extends Route>(
    route: R,
    handle: (call: Call<R, MerchantCaller>, transaction: Transaction) => Promise<ReplyData<R>>,
  ) => void;
  /**
   * The same with work that must not be done in a transaction, such as asking the network, before it. A repeated request
   * with a key that was carried out does not do that work again.
   */
  readonly preparedChange: <R extends Route, Prepared>(
    route: R,
    prepare: (call: Call<R, MerchantCaller>, db: ScopedDatabase) => Promise<Prepared>,
    handle: (
      call: Call<R, MerchantCaller>,
      transaction: Transaction,
      prepared: Prepared,
    ) => Promise<ReplyData<R>>,
  ) => void;
}

/** Gives the adders of the merchant API, with idempotency keys for every POST. */
export function merchantRoutes(addRoute: AddRoute<MerchantCaller>, deps: MerchantRouteDeps): MerchantRoutes {
  const add: AddMerchantRoute = (route, handle) =>
    addRoute(route, (call) => handle(call, deps.db.inScope(call.caller.merchantId)));
  return {
    read: add,
    bare: add,
    query: (route, handle) =>
      add(route, async (call, db) => {
        const request = keyedRequestOf(route, call);
        if (request === undefined) return handle(call, db);
        return once(db, deps, request, (transaction) => handle(call, transaction));
      }),
    change: (route, handle) =>
      add(route, async (call, db) => {
        const request = keyedRequestOf(route, call);
        if (request === undefined) return db.transaction((transaction) => handle(call, transaction));
        return once(db, deps, request, (transaction) => handle(call, transaction));
      }),
    preparedChange: (route, prepare, handle) =>
      add(route, async (call, db) => {
        const request = keyedRequestOf(route, call);
        const earlier = await replyOfEarlier(db, deps, request);
        if (earlier !== undefined) return earlier;
        const prepared = await prepare(call, db);
        const work = (transaction: Transaction) => handle(call, transaction, prepared);
        return request === undefined ? db.transaction(work) : once(db, deps, request, work);
      }),
  };
}

/** The request as its idempotency key makes it known; undefined without a key. */
export function keyedRequestOf<R extends Route>(
  route: R,
  call: Call<R, MerchantCaller>,
): KeyedRequest | undefined {
  const { caller, bodyText, requestId } = call;
  if (caller.idempotencyKey === undefined) return undefined;
  return { caller, path: route.path, key: caller.idempotencyKey, bodyHash: bodyHashOf(bodyText), requestId };
}

/**
 * Does the work and stores its answer in one transaction, or answers what was stored. Nothing of a request that fails
 * is stored, so it may be sent again.
 */
export async function once(
  db: ScopedDatabase,
  deps: IdempotencyDeps,
  request: KeyedRequest,
  work: (transaction: Transaction) => Promise<unknown>,
): Promise<FinishedReply> {
  const inTransaction = db.transaction(async (transaction) => {
    const earlier = await holdIdempotencyKey(transaction, deps, request);
    if (earlier !== undefined) return replayed(earlier);
    const answer = envelope.success(await work(transaction));
    await storeAnswer(transaction, deps, request, answer);
    return new FinishedReply(answer);
  });
  return inTransaction.catch((error: unknown) => answerOfWinner(db, deps, request, error));
}

/**
 * Does work that stores the answer itself, as a claim in the one statement of its change. Nothing is read before: a key
 * that was used shows when the claim is refused, or as some other refusal of what can be done once only.
 */
export async function onceByClaim(
  db: ScopedDatabase,
  deps: IdempotencyDeps,
  request: KeyedRequest,
  work: (claim: (data: RawJson) => IdempotencyClaim) => Promise<void>,
): Promise<FinishedReply> {
  let answer = '';
  try {
    await work((data) => {
      answer = envelope.success(data);
      return claimOf(deps, request, answer);
    });
  } catch (error) {
    return answerOfWinner(db, deps, request, error);
  }
  return new FinishedReply(answer);
}

/** The answer of an identical request that was carried out before; for work that is done before the change itself. */
export async function replyOfEarlier(
  db: ScopedDatabase,
  deps: IdempotencyDeps,
  request: KeyedRequest | undefined,
): Promise<FinishedReply | undefined> {
  const earlier = request === undefined ? undefined : await findAnswer(db, deps, request);
  return earlier === undefined ? undefined : replayed(earlier);
}

/** After a refusal: an identical request that was carried out decides, else the refusal itself. */
async function answerOfWinner(
  db: ScopedDatabase,
  deps: IdempotencyDeps,
  request: KeyedRequest,
  error: unknown,
): Promise<FinishedReply> {
  const wasUsed = error instanceof IdempotencyKeyUsed;
  if (!wasUsed && !(error instanceof Refusal)) throw error;
  const earlier = await findAnswer(db, deps, request);
  if (earlier !== undefined) return replayed(earlier);
  // Used a moment ago and gone by now: housekeeping took it between the two looks.
  throw wasUsed ? inFlight() : error;
}

function replayed(answer: string): FinishedReply {
  return new FinishedReply(answer, { 'idempotent-replayed': 'true' });
}
