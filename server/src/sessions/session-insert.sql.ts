import { changedProducts, productVersionKinds } from '#catalog/product.ts';
import { statement } from '#db/statement.ts';
import { claimColumns, claimedTable } from '#merchants/idempotency.ts';
import { firstEventColumns, firstEvents, outboxWake, outboxWrites } from '#webhooks/outbox.ts';

/** Columns of a new session in the order of the insert, with the type of the array that carries them. */
const newSessionColumns = [
  ['session_id', 'text[]'],
  ['merchant_id', 'text[]'],
  ['session_type', 'text[]'],
  ['business_id', 'text[]'],
  ['business_type', 'text[]'],
  ['client_code', 'text[]'],
  ['account_id', 'text[]'],
  ['account_version', 'text[]'],
  ['recipient', 'text[]'],
  ['settlement_token', 'text[]'],
  ['fee_model', 'int4[]'],
  ['amount', 'int8[]'],
  ['line_items', 'jsonb[]'],
  ['payer_email_required', 'bool[]'],
  ['success_url', 'text[]'],
  ['metadata', 'text[]'],
  ['meta_data', 'text[]'],
  ['salt', 'text[]'],
  ['channel_id', 'text[]'],
  ['intended_payer', 'text[]'],
  ['intended_token', 'text[]'],
  ['chosen_total', 'int8[]'],
  ['expiration_time', 'timestamptz[]'],
  ['created_at', 'timestamptz[]'],
] as const;

type Columns = readonly (readonly [name: string, type: `${string}[]`])[];

const sessionNames = namesOf(newSessionColumns);
const draftColumns = [...newSessionColumns, ...firstEventColumns] as const;
const claimedDraftColumns = [...draftColumns, ...claimColumns] as const;

function namesOf(columns: Columns): string {
  return columns.map(([name]) => name).join(', ');
}

/** Which session, counted from 1, sells which of the products whose versions follow. */
const soldProductKinds = ['int4[]', 'int4[]', ...productVersionKinds] as const;

/**
 * The sessions to be inserted whose account and products still are what was read of them, from one array for each column
 * and those of the products.
 */
function drafts(columns: Columns): string {
  const arrays = columns.map(([, type], index) => `$${index + 1}::${type}`);
  const next = columns.length + 1;
  return `${changedProducts(next + 2)}, outdated as (
     select sold.session from unnest($${next}::int4[], $${next + 1}::int4[]) as sold (session, product)
     where sold.product in (select position from changed_products)
   ), draft as (
     select d.* from unnest(${arrays.join(', ')}) with ordinality as d (${namesOf(columns)}, position)
     join accounts a on a.account_id = d.account_id and a.version = d.account_version and a.status = 'normal'
       and d.settlement_token = any (a.settlement_currencies)
     where d.position not in (select session from outdated)
   )`;
}

/**
 * Inserts what stands in a table of drafts, with the events and their deliveries. All of it reads the drafts, so that
 * nothing needs to be joined with what the insert returns.
 */
function writesOf(source: string): string {
  return `inserted as (
     insert into sessions (${sessionNames}, status, updated_at)
     select ${sessionNames}, 'initialized', created_at from ${source}
   ), ${firstEvents('session.created', { from: source, objectId: 'session_id' })}, ${outboxWrites}`;
}

/**
 * Inserts sessions, their session.created events and deliveries in one round trip and one commit. Where the account was
 * removed or re-created since its terms were read, or a product has changed, there is no session: the row and its event
 * are left out, and the session's id is missing from the answer.
 */
export const insertSessions = statement(
  'sessions_insert',
  [...draftColumns.map(([, type]) => type), ...soldProductKinds],
  { session_id: 'text', woken: 'text?' },
  `with ${drafts(draftColumns)}, ${writesOf('draft')}
   select session_id, ${outboxWake} as woken from draft`,
);

/**
 * The same with idempotency keys: a session whose key was used is left out, its event too. Key, answer, session and event
 * stand or fall together. Answers with every session whose terms still stand, and whether it was stored. Only the drafts
 * are materialized: each of the other tables would be a copy of some 4 kB for each session.
 */
export const insertClaimedSessions = statement(
  'sessions_insert_claimed',
  [...claimedDraftColumns.map(([, type]) => type), ...soldProductKinds],
  { session_id: 'text', is_stored: 'bool', woken: 'text?' },
  `with ${drafts(claimedDraftColumns)}, ${claimedTable}, judged as not materialized (
     select draft.*, claim_key is null or claim_request_id in (select request_id from claimed) as is_stored from draft
   ), accepted as not materialized (
     select * from judged where is_stored
   ), ${writesOf('accepted')}
   select session_id, is_stored, ${outboxWake} as woken from judged`,
);
