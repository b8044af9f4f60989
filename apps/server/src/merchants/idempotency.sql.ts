import { statement } from '@florin/pg';
import { tryLockOf } from '#db/advisory-lock.ts';

// Held until the transaction ends; a crash frees it. Two keys with the same hash only make one of two concurrent requests
// answer "in flight".
export const lockKey = statement({
  name: 'idempotency_lock',
  parameters: { merchantId: 'text', path: 'text', idempotencyKey: 'text' },
  columns: { is_mine: 'bool' },
  text: `select ${tryLockOf('idempotencyKey', "concat_ws(' ', :merchantId::text, :path::text, :idempotencyKey::text)")} as is_mine`,
});

export const answerByKey = statement({
  name: 'idempotency_answer_by_key',
  parameters: { merchantId: 'text', path: 'text', idempotencyKey: 'text' },
  columns: {
    body_hash: 'bytea',
    api_key_id: 'text',
    sealed_answer: 'bytea?',
    open_answer: 'text?',
    answer_start: 'int4?',
    event_body: 'text?',
  },
  text: `select body_hash, api_key_id, sealed_answer, open_answer, answer_start,
     (select body from events where event_id = answer_event_id) as event_body
   from idempotency_keys
   where merchant_id = :merchantId and path = :path and idempotency_key = :idempotencyKey`,
});

export const insertAnswer = statement({
  name: 'idempotency_insert_answer',
  parameters: {
    merchantId: 'text',
    path: 'text',
    idempotencyKey: 'text',
    bodyHash: 'bytea',
    apiKeyId: 'text',
    requestId: 'text',
    sealedAnswer: 'bytea',
    createdAt: 'timestamptz',
  },
  columns: { request_id: 'text' },
  text: `insert into idempotency_keys
     (merchant_id, path, idempotency_key, body_hash, api_key_id, request_id, sealed_answer, created_at)
   values (:merchantId, :path, :idempotencyKey, :bodyHash, :apiKeyId, :requestId, :sealedAnswer, :createdAt)
   on conflict do nothing
   returning request_id`,
});

// Skips what another replica is deleting.
export const deleteAnswers = statement({
  name: 'idempotency_delete_answers',
  parameters: { createdBefore: 'timestamptz', limit: 'int8' },
  columns: { deleted: 'int8' },
  text: `with old as (
     select merchant_id, path, idempotency_key from idempotency_keys where created_at < :createdBefore
     limit :limit for update skip locked
   ), gone as (
     delete from idempotency_keys using old
     where idempotency_keys.merchant_id = old.merchant_id and idempotency_keys.path = old.path
       and idempotency_keys.idempotency_key = old.idempotency_key
     returning 1
   )
   select count(*) as deleted from gone`,
});

/** Columns of a new object's row for its answer, with the array type of each; null for objects without a key. */
export const keyedAnswerColumns = {
  key: 'text[]',
  key_body_hash: 'bytea[]',
  key_request_id: 'text[]',
  key_answer: 'text[]',
  key_answer_start: 'int4[]',
} as const;

/** Further columns, which concurrent requests often share; null for objects without a key. */
export const sharedKeyColumns = { key_path: 'text[]', key_api_key_id: 'text[]' } as const;

/**
 * The common table `stored_answers`. It reads a table `draft` with merchant_id, created_at, event_id and the columns above, stores
 * the answers whose key is unused, and returns the ids of their requests. It waits for a key that another statement is storing.
 * All statements store their keys in the same order, so that they cannot deadlock.
 */
export const storedAnswers = `stored_answers as (
    insert into idempotency_keys
      (merchant_id, path, idempotency_key, body_hash, api_key_id, request_id, open_answer, answer_event_id,
       answer_start, created_at)
    select
      merchant_id, key_path, key, key_body_hash, key_api_key_id, key_request_id, key_answer,
      case when key_answer is null then event_id end, key_answer_start, created_at
    from draft
    where key is not null
    order by merchant_id, key_path, key
    on conflict do nothing
    returning request_id
  )`;
