import { statement } from '@florin/pg';

export const insertApiKey = statement({
  name: 'api_key_insert',
  parameters: {
    keyId: 'text',
    merchantId: 'text',
    kind: 'text',
    keyName: 'text',
    keyHash: 'bytea',
    last4: 'text',
    permissions: 'text[]',
    expiresAt: 'timestamptz?',
    ipAllowList: 'text[]',
    origins: 'text[]',
    maxSessionAmount: 'int8?',
    maxDayAmount: 'int8?',
    createdAt: 'timestamptz',
    createdBy: 'text',
  },
  text: `insert into api_keys
     (key_id, merchant_id, kind, key_name, key_hash, last4, permissions, expires_at, ip_allow_list, origins, max_session_amount,
      max_day_amount, created_at, created_by)
   values (:keyId, :merchantId, :kind, :keyName, :keyHash, :last4, :permissions, :expiresAt, :ipAllowList, :origins, :maxSessionAmount,
     :maxDayAmount, :createdAt, :createdBy)`,
});

// After the key, because a merchant's scope lets in origins only of keys that it sees, and a statement does not see its own rows.
export const insertKeyOrigins = statement({
  name: 'api_key_insert_origins',
  parameters: { keyId: 'text', origins: 'text[]' },
  text: `insert into api_key_origins (origin, key_id) select distinct origin, :keyId from unnest(:origins::text[]) as origin`,
});

const identityColumns = {
  key_hash: 'bytea',
  key_id: 'text',
  merchant_id: 'text',
  kind: 'text',
  permissions: 'text[]',
  expires_at: 'timestamptz?',
  revoked_at: 'timestamptz?',
  ip_allow_list: 'text[]',
  origins: 'text[]',
  max_session_amount: 'int8?',
  max_day_amount: 'int8?',
} as const;

const identityList = Object.keys(identityColumns).join(', ');

// An index lookup by the key's hash compares no secret byte by byte.
export const apiKeyByHash = statement({
  name: 'api_key_by_hash',
  parameters: { keyHash: 'bytea' },
  columns: identityColumns,
  text: `select ${identityList} from api_keys where key_hash = :keyHash`,
});

// PostgreSQL plans a query with a list anew each time, so one key has its own statement.
export const apiKeysByHashes = statement({
  name: 'api_keys_by_hashes',
  parameters: { keyHashes: 'bytea[]' },
  columns: identityColumns,
  text: `select ${identityList} from api_keys where key_hash = any (:keyHashes)`,
});

// Browsers ask before any key is known. Origins of valid keys are in a table of their own, because row-level security keeps
// array operators from using an index.
export const keyOfOrigin = statement({
  name: 'api_key_of_origin',
  parameters: { origin: 'text', now: 'timestamptz' },
  columns: { key_id: 'text' },
  text: `select key_id from api_key_origins join api_keys using (key_id)
   where origin = :origin and revoked_at is null and (expires_at is null or expires_at > :now)
   limit 1`,
});

export const revokeKey = statement({
  name: 'api_key_revoke',
  parameters: { keyId: 'text', revokedAt: 'timestamptz' },
  columns: { merchant_id: 'text' },
  text: `with revoked as (
     update api_keys set revoked_at = coalesce(revoked_at, :revokedAt) where key_id = :keyId returning merchant_id
   ), gone as (
     delete from api_key_origins where key_id = :keyId
   )
   select merchant_id from revoked`,
});

export const renameKey = statement({
  name: 'api_key_rename',
  parameters: { merchantId: 'text', keyId: 'text', keyName: 'text' },
  columns: { key_id: 'text' },
  text: `update api_keys set key_name = :keyName where merchant_id = :merchantId and key_id = :keyId returning key_id`,
});

// Several replicas write it: the time never goes back, and moves by a minute at least.
export const setLastUsed = statement({
  name: 'api_key_set_last_used',
  parameters: { keyId: 'text', lastUsedAt: 'timestamptz' },
  text: `update api_keys set last_used_at = :lastUsedAt
   where key_id = :keyId and (last_used_at is null or last_used_at <= :lastUsedAt::timestamptz - interval '1 minute')`,
});

// The row stays locked until the session's transaction ends, so that concurrent sums are exact. Clocks of replicas differ
// around midnight: once one replica has begun a day, amounts of slower replicas count to that day, too.
export const addSpending = statement({
  name: 'api_key_add_spending',
  parameters: { keyId: 'text', dayStart: 'timestamptz', amount: 'int8', mostPerDay: 'int8' },
  columns: { amount: 'int8' },
  text: `insert into api_key_spending (key_id, day_start, amount)
   select :keyId::text, :dayStart::timestamptz, :amount::int8 where :amount::int8 <= :mostPerDay::int8
   on conflict (key_id) do update set
     day_start = greatest(api_key_spending.day_start, excluded.day_start),
     amount = excluded.amount
       + case when api_key_spending.day_start >= excluded.day_start then api_key_spending.amount else 0 end
   where excluded.amount
       + case when api_key_spending.day_start >= excluded.day_start then api_key_spending.amount else 0 end <= :mostPerDay::int8
   returning amount`,
});

export const apiKeysOfMerchant = statement({
  name: 'api_keys_of_merchant',
  parameters: { merchantId: 'text' },
  columns: {
    key_id: 'text',
    kind: 'text',
    key_name: 'text',
    last4: 'text',
    permissions: 'text[]',
    expires_at: 'timestamptz?',
    revoked_at: 'timestamptz?',
    ip_allow_list: 'text[]',
    origins: 'text[]',
    max_session_amount: 'int8?',
    max_day_amount: 'int8?',
    last_used_at: 'timestamptz?',
    created_at: 'timestamptz',
    created_by: 'text',
  },
  text: `select key_id, kind, key_name, last4, permissions, expires_at, revoked_at, ip_allow_list, origins, max_session_amount,
     max_day_amount, last_used_at, created_at, created_by
   from api_keys where merchant_id = :merchantId order by created_at, key_id`,
});
