import { statement } from '@florin/pg';

export const insertApiKey = statement(
  'api_key_insert',
  [
    'text',
    'text',
    'text',
    'bytea',
    'text',
    'text[]',
    'timestamptz',
    'text[]',
    'text[]',
    'int8',
    'int8',
    'timestamptz',
  ],
  {},
  `with made as (
     insert into api_keys
       (key_id, merchant_id, kind, key_hash, last4, permissions, expires_at, ip_allow_list, origins, max_session_amount,
        max_day_amount, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
   )
   insert into api_key_origins (origin, key_id) select distinct origin, $1 from unnest($9) as origin`,
);

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

// By the hash of the whole key: an index lookup, and no secret is ever compared byte by byte.
export const apiKeyByHash = statement(
  'api_key_by_hash',
  ['bytea'],
  identityColumns,
  `select ${identityList} from api_keys where key_hash = $1`,
);

// PostgreSQL plans a look-up by a list afresh each time.
export const apiKeysByHashes = statement(
  'api_keys_by_hashes',
  ['bytea[]'],
  identityColumns,
  `select ${identityList} from api_keys where key_hash = any ($1)`,
);

// Asked before any key is known, by a browser. Keys that still stand have their origins in a table by origin: policies let
// no array operator reach an index.
export const keyOfOrigin = statement(
  'api_key_of_origin',
  ['text', 'timestamptz'],
  { key_id: 'text' },
  `select key_id from api_key_origins join api_keys using (key_id)
   where origin = $1 and revoked_at is null and (expires_at is null or expires_at > $2)
   limit 1`,
);

export const revokeKey = statement(
  'api_key_revoke',
  ['text', 'timestamptz'],
  { key_id: 'text' },
  `with revoked as (
     update api_keys set revoked_at = coalesce(revoked_at, $2) where key_id = $1 returning key_id
   ), gone as (
     delete from api_key_origins where key_id = $1
   )
   select key_id from revoked`,
);

// Replicas each write on their own: the time never goes back, and never moves by less than a minute.
export const setLastUsed = statement(
  'api_key_set_last_used',
  ['text', 'timestamptz'],
  {},
  `update api_keys set last_used_at = $2
   where key_id = $1 and (last_used_at is null or last_used_at <= $2::timestamptz - interval '1 minute')`,
);

// The row stays locked until the session's transaction ends, so sums are exact whatever comes at the same time. Clocks of
// replicas differ around midnight: an amount of yesterday counts to today once today has begun.
export const addSpending = statement(
  'api_key_add_spending',
  ['text', 'timestamptz', 'int8', 'int8'],
  { amount: 'int8' },
  `insert into api_key_spending (key_id, day_start, amount)
   select $1::text, $2::timestamptz, $3::int8 where $3::int8 <= $4::int8
   on conflict (key_id) do update set
     day_start = greatest(api_key_spending.day_start, excluded.day_start),
     amount = excluded.amount
       + case when api_key_spending.day_start >= excluded.day_start then api_key_spending.amount else 0 end
   where excluded.amount
       + case when api_key_spending.day_start >= excluded.day_start then api_key_spending.amount else 0 end <= $4::int8
   returning amount`,
);

export const apiKeysOfMerchant = statement(
  'api_keys_of_merchant',
  ['text'],
  {
    key_id: 'text',
    kind: 'text',
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
  },
  `select key_id, kind, last4, permissions, expires_at, revoked_at, ip_allow_list, origins, max_session_amount,
     max_day_amount, last_used_at, created_at
   from api_keys where merchant_id = $1 order by created_at, key_id`,
);
