import { type Row, statement } from '@florin/pg';
import { turnOf } from '#db/advisory-lock.ts';

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

export const authorizationByNonce = statement({
  name: 'authorization_by_nonce',
  parameters: { payer: 'text', nonce: 'text' },
  columns,
  text: `select ${columnList} from authorizations where payer = :payer and nonce = :nonce`,
});
export type AuthorizationRow = Row<typeof authorizationByNonce>;

// A subquery for each pair, not a join: it reads the primary key once per pair under every plan.
export const authorizationsByNonces = statement({
  name: 'authorizations_by_nonces',
  parameters: { payers: 'text[]', nonces: 'text[]' },
  columns,
  text: `select found.* from unnest(:payers::text[], :nonces::text[]) as asked (payer, nonce), lateral (
     select ${columnList} from authorizations a where a.payer = asked.payer and a.nonce = asked.nonce offset 0
   ) as found`,
});

// Serializes a payer's authorizations until the transaction ends. Concurrent identical requests then find the first
// one's row instead of failing at the primary key, and the quota of open sessions is exact.
export const payerLock = turnOf('payer');

// No "on conflict": under the payer's lock a second row for one nonce is a bug, and the primary key reports it.
export const insertAuthorization = statement({
  name: 'authorization_insert',
  parameters: {
    payer: 'text',
    nonce: 'text',
    purpose: 'text',
    digest: 'text',
    signatureHash: 'text',
    sessionId: 'text',
    orderId: 'text',
    createdAt: 'timestamptz',
  },
  text: `insert into authorizations
     (payer, nonce, purpose, digest, signature_hash, session_id, order_id, created_at)
   values (:payer, :nonce, :purpose, :digest, :signatureHash, :sessionId, :orderId, :createdAt)`,
});
