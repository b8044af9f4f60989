import { hash } from 'node:crypto';
import type { Queryable, Row, Transaction } from '@florin/pg';
import { fieldRefusal, Refusal } from '@florin/protocol/error.ts';
import type { Clock } from '#outside/clock.ts';
import type { Random } from '#outside/random.ts';
import type { SecretBox } from '#outside/secret-box.ts';
import type { ApiKeyIdentity } from './api-key.ts';
import { canonicalBody } from './canonical-body.ts';
import { answerByKey, deleteAnswers, holdKey, insertAnswer } from './idempotency.sql.ts';

// For rooms that claim a key in their own statement, in one round trip with the business change.
export { claimColumns, claimedTable, claimPlaceColumns } from './idempotency.sql.ts';

/** How long answers are kept: 30 days, in milliseconds. */
const answersKeptMs = 30 * 24 * 3_600_000;
const maxKeyLength = 255;

/** A request that must have its effect once, however often it is sent. */
export interface KeyedRequest {
  readonly caller: Pick<ApiKeyIdentity, 'merchantId' | 'keyId' | 'kind'>;
  /** The route's path. One key may stand on several paths. */
  readonly path: string;
  readonly key: string;
  readonly bodyHash: Buffer;
  readonly requestId: string;
}

/** What a claim is stored with when a statement of another room stores it. */
export interface IdempotencyClaim {
  readonly request: KeyedRequest;
  readonly sealedAnswer: Uint8Array;
}

export interface IdempotencyDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly secrets: SecretBox;
}

/** Thrown when the key turns out to be used by a request that was carried out meanwhile; its answer is stored. */
export class IdempotencyKeyUsed extends Error {
  override readonly name = 'IdempotencyKeyUsed';
}

/** Reads the header Idempotency-Key; undefined when absent. Refuses (400101) what is empty or over 255 characters. */
export function idempotencyKeyOf(header: string | readonly string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  const key = typeof header === 'string' ? header : header.join(', ');
  if (key.length === 0 || key.length > maxKeyLength) {
    throw fieldRefusal('Idempotency-Key', `must have 1 to ${maxKeyLength} characters`);
  }
  return key;
}

/** What bodies are compared by: SHA-256 of the canonical body, so that spelling does not count and precision does. */
export function bodyHashOf(bodyText: string): Buffer {
  return hash('sha256', canonicalBody(bodyText), 'buffer');
}

/**
 * Takes the key for this transaction, and gives the answer when the request was carried out before. Refuses the key of
 * another body (400401), and a key that another transaction holds (400402).
 */
export async function holdIdempotencyKey(
  transaction: Transaction,
  deps: IdempotencyDeps,
  request: KeyedRequest,
): Promise<string | undefined> {
  const [held] = await transaction.query(holdKey, scopeOf(request));
  // Only after the lock: a statement of its own sees whatever the last holder has committed.
  const earlier = await findAnswer(transaction, deps, request);
  if (earlier === undefined && held?.is_held !== true) throw inFlight();
  return earlier;
}

/** Stores the answer in the transaction of the change. Throws IdempotencyKeyUsed when a change elsewhere was faster. */
export async function storeAnswer(
  transaction: Transaction,
  deps: IdempotencyDeps,
  request: KeyedRequest,
  answer: string,
): Promise<void> {
  const rows = await transaction.query(insertAnswer, {
    ...scopeOf(request),
    bodyHash: request.bodyHash,
    apiKeyId: request.caller.keyId,
    requestId: request.requestId,
    sealedAnswer: sealAnswer(deps, request, answer),
    createdAt: deps.clock.now(),
  });
  if (rows.length === 0) throw new IdempotencyKeyUsed('the key was used while the request was carried out');
}

/** Makes the claim that a new object is stored with; the answer is sealed. */
export function claimOf(deps: IdempotencyDeps, request: KeyedRequest, answer: string): IdempotencyClaim {
  return { request, sealedAnswer: sealAnswer(deps, request, answer) };
}

/** Values of `claimColumns` for drafts, some of them without a key. */
export function claimValues(claims: readonly (IdempotencyClaim | undefined)[]) {
  return {
    claim_key: claims.map((claim) => claim?.request.key ?? null),
    claim_body_hash: claims.map((claim) => claim?.request.bodyHash ?? null),
    claim_request_id: claims.map((claim) => claim?.request.requestId ?? null),
    claim_answer: claims.map((claim) => claim?.sealedAnswer ?? null),
  };
}

/** Values of `claimPlaceColumns`. */
export function claimPlaceValues(claims: readonly (IdempotencyClaim | undefined)[]) {
  return {
    claim_path: claims.map((claim) => claim?.request.path ?? null),
    claim_api_key_id: claims.map((claim) => claim?.request.caller.keyId ?? null),
  };
}

/**
 * The whole body that the request was answered before, byte for byte; undefined when it was never carried out. Refuses the key of another body, and
 * of another API key unless the caller's is a secret one: what a key may see differs from key to key (400401).
 */
export async function findAnswer(
  queryable: Queryable,
  deps: Pick<IdempotencyDeps, 'secrets'>,
  request: KeyedRequest,
): Promise<string | undefined> {
  const [row] = await queryable.query(answerByKey, scopeOf(request));
  return row === undefined ? undefined : openAnswer(deps.secrets, request, row);
}

function openAnswer(secrets: SecretBox, request: KeyedRequest, row: Row<typeof answerByKey>): string {
  const { caller, bodyHash } = request;
  if (!row.body_hash.equals(bodyHash)) {
    throw new Refusal('idempotency_key_reused', 'the first request with this key had another body');
  }
  if (row.api_key_id !== caller.keyId && caller.kind !== 'secret') {
    throw new Refusal(
      'idempotency_key_reused',
      'the first request with this key came with another API key, which may see other fields',
    );
  }
  if (row.sealed_answer !== null) {
    return Buffer.from(secrets.open(row.sealed_answer, contextOf(request))).toString('utf8');
  }
  // Only rows of an older version hold their answer as text (migration 0230).
  if (row.open_answer === null) throw new Error('a stored key has no answer');
  return row.open_answer;
}

/** What is answered while an identical request is being carried out (400402). */
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

function sealAnswer(deps: IdempotencyDeps, request: KeyedRequest, answer: string): Uint8Array {
  return deps.secrets.seal(deps.random, Buffer.from(answer), contextOf(request));
}
