import { Refusal } from '@florin/protocol/error.ts';
import type { Route } from '@florin/protocol/route.ts';
import type { Database, Queryable, Transaction } from '#db/database.ts';
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
import { type AddRoute, type Call, FinishedReply, type ReplyData } from '../route-handler.ts';

/** Who calls the merchant API, and the header with which a request is safe to repeat. */
export interface MerchantCaller extends ApiKeyIdentity {
  readonly idempotencyKey: string | undefined;
}

export interface OnceDeps extends IdempotencyDeps {
  readonly db: Database;
}

/** How the resources of the merchant API add their routes. */
export interface MerchantRoutes {
  /** A GET. */
  readonly read: AddRoute<MerchantCaller>;
  /** A POST that sees to its idempotency key by itself. */
  readonly bare: AddRoute<MerchantCaller>;
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
}

/** Gives the adders of the merchant API, with idempotency keys for every POST. */
export function merchantRoutes(addRoute: AddRoute<MerchantCaller>, deps: OnceDeps): MerchantRoutes {
  return {
    read: addRoute,
    bare: addRoute,
    query: (route, handle) =>
      addRoute(route, async (call) => {
        const request = keyedRequestOf(route, call);
        if (request === undefined) return handle(call, deps.db);
        return once(deps, request, (transaction) => handle(call, transaction));
      }),
    change: (route, handle) =>
      addRoute(route, async (call) => {
        const request = keyedRequestOf(route, call);
        if (request === undefined) return deps.db.transaction((transaction) => handle(call, transaction));
        return once(deps, request, (transaction) => handle(call, transaction));
      }),
  };
}

/** The request as its idempotency key makes it known; undefined without a key. */
export function keyedRequestOf<R extends Route>(
  route: R,
  call: Call<R, MerchantCaller>,
): KeyedRequest | undefined {
  const { caller, body, requestId } = call;
  if (caller.idempotencyKey === undefined) return undefined;
  return { caller, path: route.path, key: caller.idempotencyKey, bodyHash: bodyHashOf(body), requestId };
}

/**
 * Does the work and stores its answer in one transaction, or answers what was stored. Nothing of a request that fails
 * is stored, so it may be sent again.
 */
export async function once(
  deps: OnceDeps,
  request: KeyedRequest,
  work: (transaction: Transaction) => Promise<unknown>,
): Promise<FinishedReply> {
  const inTransaction = deps.db.transaction(async (transaction) => {
    const earlier = await holdIdempotencyKey(transaction, deps, request);
    if (earlier !== undefined) return replayed(earlier);
    const answer = envelope.success(await work(transaction));
    await storeAnswer(transaction, deps, request, answer);
    return new FinishedReply(answer);
  });
  return inTransaction.catch((error: unknown) => answerOfWinner(deps, request, error));
}

/**
 * Does work that stores the answer itself, as a claim in the one statement of its change. Nothing is read before: a key
 * that was used shows when the claim is refused, or as some other refusal of what can be done once only.
 */
export async function onceByClaim(
  deps: OnceDeps,
  request: KeyedRequest,
  work: (claim: (data: unknown) => IdempotencyClaim) => Promise<void>,
): Promise<FinishedReply> {
  let answer = '';
  try {
    await work((data) => {
      answer = envelope.success(data);
      return claimOf(deps, request, answer);
    });
  } catch (error) {
    return answerOfWinner(deps, request, error);
  }
  return new FinishedReply(answer);
}

/** After a refusal: an identical request that was carried out decides, else the refusal itself. */
async function answerOfWinner(deps: OnceDeps, request: KeyedRequest, error: unknown): Promise<FinishedReply> {
  const wasUsed = error instanceof IdempotencyKeyUsed;
  if (!wasUsed && !(error instanceof Refusal)) throw error;
  const earlier = await findAnswer(deps.db, deps, request);
  if (earlier !== undefined) return replayed(earlier);
  // Used a moment ago and gone by now: housekeeping took it between the two looks.
  throw wasUsed ? inFlight() : error;
}

function replayed(answer: string): FinishedReply {
  return new FinishedReply(answer, { 'idempotent-replayed': 'true' });
}
