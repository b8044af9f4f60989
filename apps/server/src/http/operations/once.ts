import { primaryReads, type Queryable, type ScopedDatabase, type Transaction } from '@florin/pg';
import { Refusal } from '@florin/protocol/error.ts';
import type { Route } from '@florin/protocol/route.ts';
import type { successReply } from '@florin/protocol/schema.ts';
import type { Actor } from '#members/context.ts';
import type { Caller } from '#merchants/caller.ts';
import type { IdempotencyContext } from '#merchants/context.ts';
import {
  bodyHashOf,
  findAnswer,
  IdempotencyKeyUsed,
  inFlight,
  type KeyedAnswer,
  type KeyedRequest,
  lockIdempotencyKey,
  type StoredAnswer,
  storeAnswer,
} from '#merchants/idempotency.ts';
import { envelope } from '../envelope.ts';
import { rawJson } from '../raw-json.ts';
import { type AddRoute, FinishedReply, type ReplyData, type RouteCall, success } from '../route-handler.ts';
import type { OperationContext } from './context.ts';

/** The caller of a merchant's operation, and the header that makes a request safe to repeat. */
export interface MerchantCaller extends Caller {
  readonly idempotencyKey: string | undefined;
  /** Who a member is; absent for API keys. */
  readonly actor?: Actor;
}

/** One change of a request, before it is made. */
export interface Change {
  readonly route: Route;
  readonly call: Pick<
    RouteCall<Route, MerchantCaller>,
    'bodyText' | 'caller' | 'requestId' | 'clientAddress'
  > & {
    readonly body: unknown;
  };
}

/** Makes a change, and records it in the same transaction. */
export type Recorder = <T>(transaction: Transaction, change: Change, make: () => Promise<T>) => Promise<T>;

/** A handler that gets `Given`; as for AddRoute, nothing is inferred from it. */
type Handle<R extends Route, Given, Reply> = NoInfer<
  (call: RouteCall<R, MerchantCaller>, given: Given) => Promise<Reply>
>;

/** Adds a route whose handler gets the database in its caller's scope only. */
type AddMerchantRoute = <R extends Route>(
  route: R,
  handle: Handle<R, ScopedDatabase, ReplyData<R> | FinishedReply>,
) => void;

/** The answer to an action that found nothing to change. It is not recorded. */
export const unchanged: typeof success = { ...success };

/** A route whose answer is `success`. */
type ActionRoute = Route & { readonly reply: typeof successReply };

/** How the resources add their routes to a door. */
export interface MerchantRoutes {
  /** Makes a change of a `bare` route, and records it if the door records changes. */
  readonly recorded: Recorder;
  /** A GET. */
  readonly read: AddMerchantRoute;
  /** A GET whose answer may be as old as a replica. */
  readonly list: AddMerchantRoute;
  /** A POST that handles its idempotency key itself. */
  readonly bare: AddMerchantRoute;
  /** A POST that only reads. Its answer may be as old as a replica. */
  readonly query: <R extends Route>(route: R, handle: Handle<R, Queryable, ReplyData<R>>) => void;
  /** A POST that changes something, all in the given transaction. */
  readonly change: <R extends Route>(route: R, handle: Handle<R, Transaction, ReplyData<R>>) => void;
  /** A POST that changes something, and answers only that it did. Its handler gives `false` when nothing was to change. */
  readonly action: <R extends ActionRoute>(route: R, handle: Handle<R, Transaction, unknown>) => void;
  /**
   * Like `change`, with work before it that must not run in a transaction, such as network requests. A repeat of a
   * completed request skips that work.
   */
  readonly preparedChange: <R extends Route, Prepared>(
    route: R,
    prepare: (call: RouteCall<R, MerchantCaller>, db: ScopedDatabase) => Promise<Prepared>,
    handle: (
      call: RouteCall<R, MerchantCaller>,
      transaction: Transaction,
      prepared: Prepared,
    ) => Promise<ReplyData<R>>,
  ) => void;
}

/** The adders of a door, with idempotency keys for every POST. Changes are not recorded without a recorder. */
export function merchantRoutes(
  addRoute: AddRoute<MerchantCaller>,
  deps: OperationContext,
  recorded: Recorder = (_transaction, _change, make) => make(),
): MerchantRoutes {
  const { lists = primaryReads(deps.db) } = deps;
  const read: AddMerchantRoute = (route, handle) =>
    addRoute(route, (call) => handle(call, deps.db.inScope(call.caller.merchantId)));
  const add: AddMerchantRoute = (route, handle) =>
    read(route, async (call, db) => {
      try {
        return await handle(call, db);
      } finally {
        lists.wrote(call.caller.merchantId);
      }
    });
  const change: MerchantRoutes['change'] = (route, handle) =>
    add(route, async (call, db) => {
      const request = keyedRequestOf(route, call);
      const work = (transaction: Transaction) =>
        recorded(transaction, { route, call }, () => handle(call, transaction));
      return request === undefined ? db.transaction(work) : once(db, deps, request, work);
    });
  return {
    recorded,
    read,
    list: (route, handle) =>
      read(route, (call) => lists.read(call.caller.merchantId, (db) => handle(call, db))),
    bare: add,
    query: (route, handle) =>
      read(route, async (call, db) => {
        const request = keyedRequestOf(route, call);
        if (request === undefined)
          return lists.read(call.caller.merchantId, (lagging) => handle(call, lagging));
        return once(db, deps, request, (transaction) => handle(call, transaction));
      }),
    change,
    action: (route, handle) =>
      change<ActionRoute>(route, async (call, transaction) => {
        return (await handle(call, transaction)) === false ? unchanged : success;
      }),
    preparedChange: (route, prepare, handle) =>
      add(route, async (call, db) => {
        const request = keyedRequestOf(route, call);
        const earlier = await replyOfEarlier(db, deps, request);
        if (earlier !== undefined) return earlier;
        const prepared = await prepare(call, db);
        const work = (transaction: Transaction) =>
          recorded(transaction, { route, call }, () => handle(call, transaction, prepared));
        return request === undefined ? db.transaction(work) : once(db, deps, request, work);
      }),
  };
}

/**
 * The request in its idempotent form; undefined without a key. It takes what it reads of a call, and not a call of the
 * route: to compare two calls, the compiler would compare all schemas.
 */
export function keyedRequestOf(
  { path }: Route,
  { caller, bodyText, requestId }: Change['call'],
): KeyedRequest | undefined {
  if (caller.idempotencyKey === undefined) return undefined;
  return { caller, path, key: caller.idempotencyKey, bodyHash: bodyHashOf(bodyText), requestId };
}

/**
 * Does the work and stores its answer in one transaction, or returns the stored answer. A failed request stores
 * nothing, so it may be sent again.
 */
export async function once(
  db: ScopedDatabase,
  deps: IdempotencyContext,
  request: KeyedRequest,
  work: (transaction: Transaction) => Promise<unknown>,
): Promise<FinishedReply> {
  const inTransaction = db.transaction(async (transaction) => {
    const earlier = await lockIdempotencyKey(transaction, deps, request);
    if (earlier !== undefined) return replayed(earlier);
    const answer = envelope.success(await work(transaction));
    await storeAnswer(transaction, deps, request, answer);
    return new FinishedReply(answer);
  });
  return inTransaction.catch((error: unknown) => answerOfWinner(db, deps, request, error));
}

/**
 * Does work that stores the answer itself, in its one statement. It reads nothing first: a used key shows
 * as a key that is used, or as another refusal of work that happens only once.
 */
export async function onceInStatement(
  db: ScopedDatabase,
  deps: IdempotencyContext,
  request: KeyedRequest,
  work: (answerFor: (objectJson: string) => KeyedAnswer) => Promise<void>,
): Promise<FinishedReply> {
  let answer = '';
  try {
    await work((objectJson) => {
      answer = envelope.success(rawJson(objectJson));
      return { request, answer, objectJson };
    });
  } catch (error) {
    return answerOfWinner(db, deps, request, error);
  }
  return new FinishedReply(answer);
}

/** The stored answer of an identical request; for work that runs before the change itself. */
export async function replyOfEarlier(
  db: ScopedDatabase,
  deps: IdempotencyContext,
  request: KeyedRequest | undefined,
): Promise<FinishedReply | undefined> {
  const earlier = request === undefined ? undefined : await findAnswer(db, deps, request);
  return earlier === undefined ? undefined : replayed(earlier);
}

/** After a refusal: returns the stored answer of an identical request, else throws the refusal. */
async function answerOfWinner(
  db: ScopedDatabase,
  deps: IdempotencyContext,
  request: KeyedRequest,
  error: unknown,
): Promise<FinishedReply> {
  const wasUsed = error instanceof IdempotencyKeyUsed;
  if (!wasUsed && !(error instanceof Refusal)) throw error;
  const earlier = await findAnswer(db, deps, request);
  if (earlier !== undefined) return replayed(earlier);
  // Used a moment ago and gone now: housekeeping deleted it between the two reads.
  throw wasUsed ? inFlight() : error;
}

function replayed(stored: StoredAnswer): FinishedReply {
  const answer = 'answer' in stored ? stored.answer : envelope.success(rawJson(stored.objectJson));
  return new FinishedReply(answer, { 'idempotent-replayed': 'true' });
}
