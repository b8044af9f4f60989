import { outboxWake } from '@florin/outbox';
import { statement } from '@florin/pg';
import { isLinkUnchanged } from '#links/link-reader.ts';
import { draftColumns, drafts, sharedParameters, writesOf } from '#sessions/session-insert.ts';

/** Columns besides the session's: the payer's signature, and the version of the link's row when its terms were read. */
const claimColumns = {
  claim_nonce: 'text[]',
  claim_digest: 'text[]',
  claim_signature_hash: 'text[]',
  link_row_version: 'text[]',
} as const;

const columns = { ...draftColumns, ...claimColumns } as const;

/**
 * Stores signed sessions in one round trip and one commit, each with the claim of its nonce, its event and its
 * deliveries. Each session is stored completely or not at all. The nonces must all differ. The answer omits a session
 * whose account, link or product changed since. is_busy: another process holds the payer's lock. is_over: the payer has
 * too many open sessions. Otherwise, not stored means that the nonce is already known.
 */
export const insertAuthorizedSessions = statement({
  name: 'authorization_insert_sessions',
  parameters: { ...columns, ...sharedParameters, maxOpenSessions: 'int8?' },
  columns: { session_id: 'text', is_stored: 'bool', is_busy: 'bool', is_over: 'bool', woken: 'text?' },
  text: `with ${drafts(columns)}, standing as materialized (
     select session_id, intended_payer, claim_nonce, claim_digest, claim_signature_hash, created_at, position
     from draft where ${isLinkUnchanged('draft.business_id', 'draft.link_row_version')}
   ), payers as materialized (
     select intended_payer, authorization_room(intended_payer, :maxOpenSessions, at) as room
     from (select intended_payer, max(created_at) as at from standing group by intended_payer) as opening
   ), placed as materialized (
     select standing.*, room,
       row_number() over (partition by standing.intended_payer order by standing.position) as place
     from standing join payers on payers.intended_payer = standing.intended_payer
   ), claimed as (
     insert into authorizations
       (payer, nonce, purpose, digest, signature_hash, session_id, order_id, created_at)
     select
       lower(intended_payer), claim_nonce, 'create_payment_session', claim_digest, claim_signature_hash, session_id, '',
       created_at
     from placed
     where place <= room
     on conflict do nothing
     returning session_id
   ), accepted as not materialized (
     select draft.* from draft where session_id in (select session_id from claimed)
   ), ${writesOf('accepted')}
   select
     session_id,
     session_id in (select session_id from claimed) as is_stored,
     room is null as is_busy,
     place > coalesce(room, place) as is_over,
     ${outboxWake} as woken
   from placed`,
});
