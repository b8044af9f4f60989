import { hash } from 'node:crypto';
import type { Queryable, Row, Transaction } from '@florin/pg';
import { fieldRefusal, Refusal } from '@florin/protocol/error.ts';
import type { SecretBox } from '#outside/secret-box.ts';
import type { Caller } from './caller.ts';
import { canonicalBody } from './canonical-body.ts';
import type { IdempotencyContext } from './context.ts';
import { answerByKey, deleteAnswers, insertAnswer, lockKey } from './idempotency.sql.ts';

// For rooms that store an answer in the statement of the change itself.
export { keyedAnswerColumns, sharedKeyColumns, storedAnswers } from './idempotency.sql.ts';

/** How long answers are kept: 30 days, in milliseconds. */
const answersKeptMs = 30 * 24 * 3_600_000;
const maxKeyLength = 255;

/** A request that takes effect once, even when it is sent several times. */
export interface KeyedRequest {
  readonly caller: Pick<Caller, 'merchantId' | 'callerId' | 'kind'>;
  /** The route's path. The same key may be used on several paths. */
  readonly path: string;
  readonly key: string;
  readonly bodyHash: Buffer;
  readonly requestId: string;
}

/** The answer to a request that creates an object, to be stored by the statement that stores the object. */
export interface KeyedAnswer {
  readonly request: KeyedRequest;
  readonly answer: string;
  /** The JSON text of the object, as the answer shows it. */
  readonly objectJson: string;
}

/** What a request with a used key is answered: the text itself, or the JSON text of the object that the answer shows. */
export type StoredAnswer = { readonly answer: string } | { readonly objectJson: string };

/** Thrown when a concurrent request with the same key was carried out first. Its answer is stored. */
export class IdempotencyKeyUsed extends Error {
  override readonly name = 'IdempotencyKeyUsed';
}

/** Reads the header Idempotency-Key; undefined when absent. It must have 1 to 255 characters (400101). */
export function idempotencyKeyOf(header: string | readonly string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  const key = typeof header === 'string' ? header : header.join(', ');
  if (key.length === 0 || key.length > maxKeyLength) {
    throw fieldRefusal('Idempotency-Key', `must have 1 to ${maxKeyLength} characters`);
  }
  return key;
}

/** SHA-256 of the canonical body: bodies that differ only in their spelling have the same hash. */
export function bodyHashOf(bodyText: string): Buffer {
  return hash('sha256', canonicalBody(bodyText), 'buffer');
}

/**
 * Locks the key for this transaction, and returns the answer when the request was carried out before. Refuses a key that was
 * used with another body (400401) or is locked by another transaction (400402).
 */
export async function lockIdempotencyKey(
  transaction: Transaction,
  deps: IdempotencyContext,
  request: KeyedRequest,
): Promise<StoredAnswer | undefined> {
  const [lock] = await transaction.query(lockKey, scopeOf(request));
  // A second statement after the lock: it sees what the last holder of the lock has committed.
  const earlier = await findAnswer(transaction, deps, request);
  if (earlier === undefined && lock?.is_mine !== true) throw inFlight();
  return earlier;
}

/** Stores the answer in the transaction of the change. Throws IdempotencyKeyUsed when a concurrent request was faster. */
export async function storeAnswer(
  transaction: Transaction,
  deps: IdempotencyContext,
  request: KeyedRequest,
  answer: string,
): Promise<void> {
  const rows = await transaction.query(insertAnswer, {
    ...scopeOf(request),
    bodyHash: request.bodyHash,
    apiKeyId: request.caller.callerId,
    requestId: request.requestId,
    sealedAnswer: sealAnswer(deps, request, answer),
    createdAt: deps.clock.now(),
  });
  if (rows.length === 0) throw new IdempotencyKeyUsed('the key was used while the request was carried out');
}

/**
 * Values of `keyedAnswerColumns` for objects of which some have no key, each with the body of its first event. An answer whose
 * object ends the event's data is not stored again.
 */
export function keyedAnswerValues(
  answers: readonly (KeyedAnswer | undefined)[],
  eventBodies: readonly string[],
) {
  const starts = answers.map((answer, index) => startInEvent(answer?.objectJson, eventBodies[index] ?? ''));
  return {
    key: answers.map((answer) => answer?.request.key ?? null),
    key_body_hash: answers.map((answer) => answer?.request.bodyHash ?? null),
    key_request_id: answers.map((answer) => answer?.request.requestId ?? null),
    // In clear: the object's own row holds the same.
    key_answer: answers.map((answer, index) => (starts[index] === null ? (answer?.answer ?? null) : null)),
    key_answer_start: starts,
  };
}

/** The brackets that close an event's data and its body. */
const eventEnd = '}}';

/** Where an object begins that ends the event's data; null when it does not. */
function startInEvent(objectJson: string | undefined, eventBody: string): number | null {
  if (objectJson === undefined) return null;
  const start = eventBody.length - eventEnd.length - objectJson.length;
  return objectAt(eventBody, start) === objectJson ? start : null;
}

function objectAt(eventBody: string, start: number): string {
  return eventBody.slice(start, -eventEnd.length);
}

/** Values of `sharedKeyColumns`. */
export function sharedKeyValues(answers: readonly (KeyedAnswer | undefined)[]) {
  return {
    key_path: answers.map((answer) => answer?.request.path ?? null),
    key_api_key_id: answers.map((answer) => answer?.request.caller.callerId ?? null),
  };
}

/**
 * The stored answer to the request, byte for byte; undefined when the request was never carried out. Refuses a key that was
 * used with another body, or by another caller (400401): callers may see different fields. A secret key sees all of them.
 */
export async function findAnswer(
  queryable: Queryable,
  deps: Pick<IdempotencyContext, 'secrets'>,
  request: KeyedRequest,
): Promise<StoredAnswer | undefined> {
  const [row] = await queryable.query(answerByKey, scopeOf(request));
  return row === undefined ? undefined : openAnswer(deps.secrets, request, row);
}

function openAnswer(secrets: SecretBox, request: KeyedRequest, row: Row<typeof answerByKey>): StoredAnswer {
  const { caller, bodyHash } = request;
  if (!row.body_hash.equals(bodyHash)) {
    throw new Refusal('idempotency_key_reused', 'the first request with this key had another body');
  }
  if (row.api_key_id !== caller.callerId && caller.kind !== 'secret') {
    throw new Refusal(
      'idempotency_key_reused',
      'the first request with this key came from another caller, who may see other fields',
    );
  }
  if (row.sealed_answer !== null) {
    return { answer: Buffer.from(secrets.open(row.sealed_answer, contextOf(request))).toString('utf8') };
  }
  if (row.open_answer !== null) return { answer: row.open_answer };
  // Events are kept three times as long as answers.
  if (row.answer_start === null || !row.event_body) throw new Error('a stored key has no answer');
  return { objectJson: objectAt(row.event_body, row.answer_start) };
}

/** The refusal while an identical request is being carried out (400402). */
export function inFlight(): Refusal {
  return new Refusal('idempotency_in_flight', { detail: 'try again', retryAfterSeconds: 1 });
}

/** Deletes up to `limit` answers that are older than 30 days. Returns how many. */
export async function deleteOldAnswers(queryable: Queryable, now: Date, limit: number): Promise<number> {
  const oldest = new Date(now.getTime() - answersKeptMs);
  const [row] = await queryable.query(deleteAnswers, { createdBefore: oldest, limit });
  return Number(row?.deleted ?? 0n);
}

function scopeOf({ caller, path, key }: KeyedRequest) {
  return { merchantId: caller.merchantId, path, idempotencyKey: key };
}

function contextOf({ caller, path, key }: KeyedRequest): string {
  return `idempotency ${caller.merchantId} ${path} ${key}`;
}

function sealAnswer(deps: IdempotencyContext, request: KeyedRequest, answer: string): Uint8Array {
  return deps.secrets.seal(deps.random, Buffer.from(answer), contextOf(request));
}
