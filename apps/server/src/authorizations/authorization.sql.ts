import { type Row, statement } from '@florin/pg';
import { awaitLockOf } from '#db/advisory-lock.ts';

const columns = {
  payer: 'text',
  nonce: 'text',
  purpose: 'text',
  digest: 'text',
  signature_hash: 'text',
  session_id: 'text',
  order_id: 'text',
} as const;

const columnList = Object.keys(columns).join(', ');

export const authorizationByNonce = statement(
  'authorization_by_nonce',
  ['text', 'text'],
  columns,
  `select ${columnList} from authorizations where payer = $1 and nonce = $2`,
);
export type AuthorizationRow = Row<typeof authorizationByNonce>;

// A subquery for each pair, not a join: it reads the primary key once per pair under every plan.
export const authorizationsByNonces = statement(
  'authorizations_by_nonces',
  ['text[]', 'text[]'],
  columns,
  `select found.* from unnest($1::text[], $2::text[]) as asked (payer, nonce), lateral (
     select ${columnList} from authorizations a where a.payer = asked.payer and a.nonce = asked.nonce offset 0
   ) as found`,
);

// Serializes a payer's authorizations until the transaction ends. Concurrent identical requests then find the first
// one's row instead of failing at the primary key, and the quota of open sessions is exact.
export const payerLock = statement(
  'authorization_lock_payer',
  ['text'],
  { locked: 'bool?' },
  `select true as locked from ${awaitLockOf('payer', '$1::text')}`,
);

// No "on conflict": under the payer's lock a second row for one nonce is a bug, and the primary key reports it.
export const insertAuthorization = statement(
  'authorization_insert',
  ['text', 'text', 'text', 'text', 'text', 'text', 'text', 'timestamptz'],
  {},
  `insert into authorizations (${columnList}, created_at) values ($1, $2, $3, $4, $5, $6, $7, $8)`,
);
