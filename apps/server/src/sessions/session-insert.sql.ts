import { firstEventColumns, firstEventWrites, outboxWake } from '@florin/outbox';
import { type ParameterKind, statement } from '@florin/pg';
import { changedProducts, productVersionParameters } from '#catalog/product.ts';
import { keyedAnswerColumns, sharedKeyColumns, storedAnswers } from '#merchants/idempotency.ts';

type Columns = Readonly<Record<string, ParameterKind>>;

/**
 * Columns of a new session that sessions of one moment often have alike: who sells, and on what terms. Each such set is
 * sent, and looked at, once for all sessions that have it.
 */
const termsColumns = {
  merchant_id: 'text[]',
  session_type: 'text[]',
  business_id: 'text[]',
  business_type: 'text[]',
  account_id: 'text[]',
  account_version: 'text[]',
  recipient: 'text[]',
  settlement_token: 'text[]',
  fee_model: 'int4[]',
  payer_email_required: 'bool[]',
  channel_id: 'text[]',
  intended_token: 'text[]',
} as const;

/** Columns of a new session that are its own. */
const ownColumns = {
  session_id: 'text[]',
  client_code: 'text[]',
  amount: 'int8[]',
  line_items: 'text[]',
  success_url: 'text[]',
  cancel_url: 'text[]',
  auto_return: 'text[]',
  custom_success_text: 'text[]',
  metadata: 'text[]',
  meta_data: 'text[]',
  salt: 'text[]',
  chosen_total: 'int8[]',
  expiration_time: 'timestamptz[]',
  created_at: 'timestamptz[]',
} as const;

/**
 * Columns of a draft, with the type of the array that carries each: the place of the session's terms, counted from 1; the
 * payer whom it is for, null for any payer; the session itself and its first event. Parameters have the names of their columns.
 */
export const draftColumns = {
  terms_place: 'int4[]',
  intended_payer: 'text[]',
  ...ownColumns,
  ...firstEventColumns,
} as const;

const keyedDraftColumns = { ...draftColumns, ...keyedAnswerColumns } as const;
const keyedTermsColumns = { ...termsColumns, ...sharedKeyColumns } as const;

const sessionNames = `${namesOf(termsColumns)}, ${namesOf(ownColumns)}`;

function namesOf(columns: Columns, table = ''): string {
  return Object.keys(columns)
    .map((name) => table + name)
    .join(', ');
}

/** Arrays of the columns as a table with `position`. */
function tableOf(columns: Columns): string {
  const arrays = Object.entries(columns).map(([name, kind]) => `:${name}::${kind}`);
  return `unnest(${arrays.join(', ')}) with ordinality`;
}

/** Which session, counted from 1, sells which of the products whose versions follow. */
const soldParameters = { sellers: 'int4[]', sold: 'int4[]', ...productVersionParameters } as const;

/** What sessions of one statement share. */
export const sharedParameters = { ...soldParameters, ...termsColumns } as const;

/**
 * The common table `draft`: the sessions to be inserted whose account and products still are what was read of them, from
 * one array for each column and those that sessions share.
 */
export function drafts(columns: Columns, terms: Columns = termsColumns): string {
  const { intended_payer: _, ...others } = columns;
  return `${changedProducts}, outdated as (
     select sold.session from unnest(:sellers::int4[], :sold::int4[]) as sold (session, product)
     where sold.product in (select position from changed_products)
   ), terms as materialized (
     select ${namesOf(terms, 't.')}, t.position
     from ${tableOf(terms)} as t (${namesOf(terms)}, position)
     join accounts a on a.account_id = t.account_id and a.version = t.account_version and a.status = 'normal'
       and not a.is_suspended and a.merchant_id = t.merchant_id and t.settlement_token = any (a.settlement_currencies)
   ), draft as (
     select ${namesOf(others, 'd.')}, d.position, coalesce(d.intended_payer, '') as intended_payer,
       ${namesOf(terms, 'terms.')}
     from ${tableOf(columns)} as d (${namesOf(columns)}, position)
     join terms on terms.position = d.terms_place
     where d.position not in (select session from outdated)
   )`;
}

/**
 * Inserts what stands in a table of drafts, with the events and their deliveries. All of it reads the drafts, so that
 * nothing needs to be joined with what the insert returns.
 */
export function writesOf(source: string): string {
  return `inserted as (
     insert into sessions (${sessionNames}, intended_payer, status, updated_at)
     select ${sessionNames}, intended_payer, 'initialized', created_at from ${source}
   ), ${firstEventWrites('session.created', { from: source, objectId: 'session_id', owners: 'terms' })}`;
}

/**
 * Inserts sessions, their session.created events and deliveries in one round trip and one commit. Where the account was
 * removed or re-created since its terms were read, or a product has changed, there is no session: the row and its event
 * are left out, and the session's id is missing from the answer. So it is while the operator suspends the merchant.
 */
export const insertSessions = statement({
  name: 'sessions_insert',
  parameters: { ...draftColumns, ...sharedParameters },
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
  parameters: { ...keyedDraftColumns, ...soldParameters, ...keyedTermsColumns },
  columns: { session_id: 'text', is_stored: 'bool', woken: 'text?' },
  text: `with ${drafts(keyedDraftColumns, keyedTermsColumns)}, ${storedAnswers}, refused as materialized (
     select position from draft
     where key is not null and key_request_id not in (select request_id from stored_answers)
   ), accepted as not materialized (
     select * from draft where position not in (select position from refused)
   ), ${writesOf('accepted')}
   select session_id, position not in (select position from refused) as is_stored, ${outboxWake} as woken from draft`,
});
