import { statement } from '#db/statement.ts';
import { claimColumns, claimedTable } from '#merchants/idempotency.ts';
import {
  firstEvents,
  incomingEventKinds,
  incomingEvents,
  outboxWake,
  outboxWrites,
} from '#webhooks/outbox.ts';

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

const names = newSessionColumns.map(([name]) => name);
const arrays = newSessionColumns.map(([, type], index) => `$${index + 1}::${type}`);

/** The sessions to be inserted whose account still is what was read of it, from arrays of these columns. */
function drafts(sources: readonly string[], columns: readonly string[]): string {
  return `draft as (
     select d.* from unnest(${sources.join(', ')}) as d (${columns.join(', ')})
     join accounts a on a.account_id = d.account_id and a.version = d.account_version and a.status = 'normal'
       and d.settlement_token = any (a.settlement_currencies)
   )`;
}

/** Inserts the drafts that a condition takes, as `inserted`. */
function insertedDrafts(condition = 'true'): string {
  return `inserted as (
     insert into sessions (${names.join(', ')}, status, updated_at)
     select ${names.join(', ')}, 'initialized', created_at from draft where ${condition}
     returning session_id
   )`;
}

/** Writes the events of the sessions that were inserted, from parameters of which the first has this number. */
function eventsOfInserted(first: number): string {
  return `${incomingEvents(first, 'all_incoming_events')}, incoming_events as (
     select all_incoming_events.* from all_incoming_events join inserted on inserted.session_id = object_id
   ), ${firstEvents}, ${outboxWrites}`;
}

/**
 * Inserts sessions, their session.created events and deliveries in one round trip and one commit. An account that was
 * removed or re-created since its terms were read gets no session: the row and its event are left out, and the
 * session's id is missing from the answer.
 */
export const insertSessions = statement(
  'sessions_insert',
  [...newSessionColumns.map(([, type]) => type), ...incomingEventKinds],
  { session_id: 'text', woken: 'text?' },
  `with ${drafts(arrays, names)}, ${insertedDrafts()}, ${eventsOfInserted(names.length + 1)}
   select inserted.session_id, ${outboxWake} as woken from inserted`,
);

const claimNames = claimColumns.map(([name]) => name);
const claimArrays = claimColumns.map(([, type], index) => `$${names.length + index + 1}::${type}`);

/**
 * The same with idempotency keys: a session whose key was used is left out, its event too. Key, answer, session and event
 * stand or fall together. Answers with every session whose account still stands, and whether it was stored.
 */
export const insertClaimedSessions = statement(
  'sessions_insert_claimed',
  [
    ...newSessionColumns.map(([, type]) => type),
    ...claimColumns.map(([, type]) => type),
    ...incomingEventKinds,
  ],
  { session_id: 'text', is_stored: 'bool', woken: 'text?' },
  `with ${drafts([...arrays, ...claimArrays], [...names, ...claimNames])}, ${claimedTable},
   ${insertedDrafts('claim_key is null or claim_request_id in (select request_id from claimed)')},
   ${eventsOfInserted(names.length + claimNames.length + 1)}
   select draft.session_id, inserted.session_id is not null as is_stored, ${outboxWake} as woken
   from draft left join inserted on inserted.session_id = draft.session_id`,
);
