import { statement } from '#db/statement.ts';

export const insertApiKey = statement(
  'api_key_insert',
  ['text', 'text', 'text', 'bytea', 'text', 'text[]', 'timestamptz', 'timestamptz'],
  {},
  `insert into api_keys (key_id, merchant_id, kind, key_hash, last4, permissions, expires_at, created_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8)`,
);

// By the hash of the whole key: an index lookup, and no secret is ever compared byte by byte.
export const apiKeysByHashes = statement(
  'api_keys_by_hashes',
  ['bytea[]'],
  {
    key_hash: 'bytea',
    key_id: 'text',
    merchant_id: 'text',
    kind: 'text',
    permissions: 'text[]',
    expires_at: 'timestamptz?',
    revoked_at: 'timestamptz?',
  },
  `select key_hash, key_id, merchant_id, kind, permissions, expires_at, revoked_at
   from api_keys where key_hash = any ($1)`,
);

export const revokeKey = statement(
  'api_key_revoke',
  ['text', 'timestamptz'],
  { key_id: 'text' },
  'update api_keys set revoked_at = coalesce(revoked_at, $2) where key_id = $1 returning key_id',
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
    created_at: 'timestamptz',
  },
  `select key_id, kind, last4, permissions, expires_at, revoked_at, created_at
   from api_keys where merchant_id = $1 order by created_at, key_id`,
);
