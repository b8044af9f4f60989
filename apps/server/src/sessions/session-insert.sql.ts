import { firstEventColumns, firstEventWrites, outboxWake } from '@florin/outbox';
import { type ParameterKind, statement } from '@florin/pg';
import { changedProducts, productVersionParameters } from '#catalog/product.ts';
import { keyedAnswerColumns, storedAnswers } from '#merchants/idempotency.ts';

type Columns = Readonly<Record<string, ParameterKind>>;

/** Columns of a new session. */
const sessionColumns = {
  session_id: 'text[]',
  client_code: 'text[]',
  merchant_id: 'text[]',
  session_type: 'text[]',
  business_id: 'text[]',
  business_type: 'text[]',
  account_id: 'text[]',
  account_version: 'text[]',
  recipient: 'text[]',
  settlement_token: 'text[]',
  fee_model: 'int4[]',
  amount: 'int8[]',
  line_items: 'text[]',
  payer_email_required: 'bool[]',
  success_url: 'text[]',
  metadata: 'text[]',
  meta_data: 'text[]',
  salt: 'text[]',
  channel_id: 'text[]',
  intended_payer: 'text[]',
  intended_token: 'text[]',
  chosen_total: 'int8[]',
  expiration_time: 'timestamptz[]',
  created_at: 'timestamptz[]',
} as const;

/** Columns of a draft, the session and its first event, with the type of the array that carries each. Parameters have their names. */
export const draftColumns = { ...sessionColumns, ...firstEventColumns } as const;

const keyedDraftColumns = { ...draftColumns, ...keyedAnswerColumns } as const;

function namesOf(columns: Columns): string {
  return Object.keys(columns).join(', ');
}

/** Arrays of the columns as a table with `position`. */
function tableOf(columns: Columns): string {
  const arrays = Object.entries(columns).map(([name, kind]) => `:${name}::${kind}`);
  return `unnest(${arrays.join(', ')}) with ordinality`;
}

/** Which session, counted from 1, sells which of the products whose versions follow. */
export const soldParameters = { sellers: 'int4[]', sold: 'int4[]', ...productVersionParameters } as const;

/**
 * The common table `draft`: the sessions to be inserted whose account and products still are what was read of them, from
 * one array for each column.
 */
export function drafts(columns: Columns): string {
  return `${changedProducts}, outdated as (
     select sold.session from unnest(:sellers::int4[], :sold::int4[]) as sold (session, product)
     where sold.product in (select position from changed_products)
   ), draft as (
     select d.*
     from ${tableOf(columns)} as d (${namesOf(columns)}, position)
     join accounts a on a.account_id = d.account_id and a.version = d.account_version and a.status = 'normal'
       and a.merchant_id = d.merchant_id and d.settlement_token = any (a.settlement_currencies)
     where d.position not in (select session from outdated)
   )`;
}

/**
 * Inserts what stands in a table of drafts, with the events and their deliveries. All of it reads the drafts, so that
 * nothing needs to be joined with what the insert returns.
 */
export function writesOf(source: string): string {
  return `inserted as (
     insert into sessions (${namesOf(sessionColumns)}, status, updated_at)
     select ${namesOf(sessionColumns)}, 'initialized', created_at from ${source}
   ), ${firstEventWrites('session.created', { from: source, objectId: 'session_id', owners: 'draft' })}`;
}

/**
 * Inserts sessions, their session.created events and deliveries in one round trip and one commit. Where the account was
 * removed or re-created since its terms were read, or a product has changed, there is no session: the row and its event
 * are left out, and the session's id is missing from the answer.
 */
export const insertSessions = statement({
  name: 'sessions_insert',
  parameters: { ...draftColumns, ...soldParameters },
  columns: { session_id: 'text', woken: 'text?' },
  text: `with ${drafts(draftColumns)}, ${writesOf('draft')}
   select session_id, ${outboxWake} as woken from draft`,
});

/**
 * The same with idempotency keys: a session whose key was used is left out, its event too. Key, answer, session and event
 * stand or fall together. Answers with every session whose terms still stand, and whether it was stored. Of the tables of
 * whole sessions only the drafts are materialized: each other one would be a copy of some 4 kB for each session. Which
 * keys were refused is found out once, mostly nothing, and not by every reader of the accepted ones.
 */
export const insertKeyedSessions = statement({
  name: 'sessions_insert_keyed',
  parameters: { ...keyedDraftColumns, ...soldParameters },
  columns: { session_id: 'text', is_stored: 'bool', woken: 'text?' },
  text: `with ${drafts(keyedDraftColumns)}, ${storedAnswers}, refused as materialized (
     select position from draft
     where key is not null and key_request_id not in (select request_id from stored_answers)
   ), accepted as not materialized (
     select * from draft where position not in (select position from refused)
   ), ${writesOf('accepted')}
   select session_id, position not in (select position from refused) as is_stored, ${outboxWake} as woken from draft`,
});
