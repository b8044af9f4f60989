import { statement } from '@florin/pg';
import { tryLockOf } from '#db/advisory-lock.ts';

// Held until the transaction ends, however it ends: a crash frees the key. Two keys of one hash only make one of two
// requests at the same time answer "in flight".
export const holdKey = statement({
  name: 'idempotency_hold',
  parameters: { merchantId: 'text', path: 'text', idempotencyKey: 'text' },
  columns: { is_held: 'bool' },
  text: `select ${tryLockOf('idempotencyKey', "concat_ws(' ', :merchantId::text, :path::text, :idempotencyKey::text)")} as is_held`,
});

export const answerByKey = statement({
  name: 'idempotency_answer_by_key',
  parameters: { merchantId: 'text', path: 'text', idempotencyKey: 'text' },
  columns: { body_hash: 'bytea', api_key_id: 'text', sealed_answer: 'bytea?', open_answer: 'text?' },
  text: `select body_hash, api_key_id, sealed_answer, open_answer
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

/** Columns that a draft carries its claim in, with the type of the array of each; null in drafts without a key. */
export const claimColumns = {
  claim_key: 'text[]',
  claim_body_hash: 'bytea[]',
  claim_request_id: 'text[]',
  claim_answer: 'bytea[]',
} as const;

/** Further columns of a claim, which many claims of one moment have alike; null in drafts without a key. */
export const claimPlaceColumns = { claim_path: 'text[]', claim_api_key_id: 'text[]' } as const;

/**
 * The common table `claimed`, from a table `draft` with merchant_id, created_at and all columns of claims: stores
 * the answers of those whose key is unused, and names their requests. It waits for a key that another statement is storing.
 * All statements take their keys in one order, so that none waits for another in a circle.
 */
export const claimedTable = `claimed as (
    insert into idempotency_keys
      (merchant_id, path, idempotency_key, body_hash, api_key_id, request_id, sealed_answer, created_at)
    select
      merchant_id, claim_path, claim_key, claim_body_hash, claim_api_key_id, claim_request_id, claim_answer, created_at
    from draft
    where claim_key is not null
    order by merchant_id, claim_path, claim_key
    on conflict do nothing
    returning request_id
  )`;
