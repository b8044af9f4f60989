import { isWithinBudget, statement, type ValuesOf } from '@florin/pg';
import { searchReach } from '@florin/protocol/session-search.ts';
import { pastTheEnd } from '#db/list-page.ts';
import { sessionColumns } from './session.sql.ts';

// Ordinals follow the time of creation, except in concurrent transactions and where the clocks of processes differ.
const clockMargin = "interval '1 minute'";

const inRange = 'w.merchant_id = :merchantId and w.word >= low and w.word < high';

/**
 * Where a search begins and ends in the order of creation, both excluded, and how many sessions each range of words
 * names, counted up to one more than the reach. `words` has the word of each range that has only one, else an empty text.
 * `below` is null for a cursor whose session the merchant does not have.
 */
export const searchPlace = statement({
  name: 'session_search_place',
  parameters: {
    merchantId: 'text',
    after: 'text',
    createdFrom: 'timestamptz?',
    createdBefore: 'timestamptz?',
    lows: 'text[]',
    highs: 'text[]',
  },
  columns: { below: 'int8?', above: 'int8', counts: 'int8[]', words: 'text[]' },
  // least() passes by what is null.
  text: `select
     case when :after = '' or exists (
       select from sessions where session_id = :after and merchant_id = :merchantId
     ) then least(
       (select ordinal from session_search where merchant_id = :merchantId
         and created_at > :createdBefore::timestamptz + ${clockMargin} order by created_at limit 1),
       (select ordinal from sessions where session_id = :after and merchant_id = :merchantId),
       ${pastTheEnd}
     ) end as below,
     coalesce((select ordinal from session_search where merchant_id = :merchantId
       and created_at < :createdFrom::timestamptz - ${clockMargin} order by created_at desc limit 1), 0) as above,
     array(
       select (select count(*) from (
         select from session_words w where ${inRange} order by w.word limit ${searchReach + 1}) as named)
       from unnest(:lows::text[], :highs::text[]) with ordinality as range (low, high, position) order by position
     ) as counts,
     array(
       select case when first.word = last.word then first.word else '' end
       from unnest(:lows::text[], :highs::text[]) with ordinality as range (low, high, position)
       left join lateral (
         select w.word from session_words w where ${inRange} order by w.word limit 1) as first on true
       left join lateral (
         select w.word from session_words w where ${inRange} order by w.word desc limit 1) as last on true
       order by position
     ) as words`,
});

const filters = {
  merchantId: 'text',
  below: 'int8',
  above: 'int8',
  limit: 'int8',
  words: 'text[]',
  texts: 'text[]',
  endings: 'text[]',
  namedTexts: 'text[]',
  namedLinks: 'text[]',
  showsEmail: 'bool',
  status: 'text',
  sessionType: 'text',
  isRefunded: 'bool?',
  accountId: 'text',
  linkId: 'text',
  payer: 'text',
  payerEmail: 'text',
  paidToken: 'text',
  txHash: 'text',
  createdFrom: 'timestamptz?',
  createdBefore: 'timestamptz?',
  paidFrom: 'timestamptz?',
  paidBefore: 'timestamptz?',
  amountFrom: 'int8',
  amountTo: 'int8',
} as const;
export type SearchFilters = ValuesOf<typeof filters>;

/** The session as it is now decides, not what was indexed of it. */
const isWanted = `(:status = '' or s.status = :status) and (:sessionType = '' or s.session_type = :sessionType)
  and (:isRefunded::bool is null or (s.refunded_amount > 0) = :isRefunded)
  and (:accountId = '' or s.account_id = :accountId) and (:linkId = '' or s.business_id = :linkId)
  and (:payer = '' or lower(s.payer) = :payer) and (:payerEmail = '' or lower(s.payer_email) = :payerEmail)
  and (:paidToken = '' or s.paid_token = :paidToken)
  and (:txHash = '' or lower(s.initiate_tx) = :txHash or lower(s.complete_tx) = :txHash)
  and (:createdFrom::timestamptz is null or s.created_at >= :createdFrom)
  and (:createdBefore::timestamptz is null or s.created_at < :createdBefore)
  and (:paidFrom::timestamptz is null or s.payment_succeeded_at >= :paidFrom)
  and (:paidBefore::timestamptz is null or s.payment_succeeded_at < :paidBefore)
  and s.amount between :amountFrom and :amountTo`;

// Not an exists: PostgreSQL could answer that with a hash of the whole table. It names the judged session, so that its words are
// read only once the session has met the cheaper conditions.
const hasWords = `(cardinality(:words::text[]) + cardinality(:texts::text[]) = 0 or coalesce((
  select not exists (select from unnest(:words::text[]) as word where strpos(i.words, ' ' || word || ' ') = 0)
    and not exists (
      select from unnest(:texts::text[], :endings::text[]) as text (word, ending)
      where strpos(i.words, ' ' || word) = 0 and (ending = '' or strpos(i.words, ' ' || ending) = 0)
        and not (:showsEmail and strpos(i.words, ' @' || word) > 0)
        and strpos(coalesce((:namedTexts::text[])[array_position(:namedLinks::text[], s.business_id)], ''), ' ' || word) = 0)
  from session_search i where i.merchant_id = :merchantId and i.ordinal = s.ordinal), false))`;

/**
 * Judges the candidates, newest first, until it has enough. Answers with the sessions found, how many candidates there
 * were, and the ordinal of the last. The limit of one in the inner query keeps PostgreSQL from joining whole tables.
 */
function judged(candidates: string): string {
  return `with candidates as materialized (${candidates} limit ${searchReach}), found as (
     select s.session_id, candidates.ordinal from candidates
     cross join lateral (
       select session_id, ordinal, business_id from sessions s
       where s.merchant_id = :merchantId and s.ordinal = candidates.ordinal and ${isWanted} limit 1) as s
     where ${hasWords}
     order by candidates.ordinal desc limit (select :limit::int8 + 1)
   )
   select array(select session_id from found order by ordinal desc) as session_ids,
     (select count(*) from candidates) as candidate_count,
     (select session_id from sessions
      where merchant_id = :merchantId and ordinal = (select min(ordinal) from candidates)) as last_id`;
}

const isBetween = 'ordinal < :below and ordinal > :above';
const lastInReach = `order by ordinal desc offset ${searchReach - 1} limit 1`;

/**
 * Where the reach ends among the sessions of each word, and of the status if there is one: the ordinal of the last
 * candidate, 0 where all of them are within reach. The lowest looks at the most sessions of the merchant.
 */
export const reachEnds = statement({
  name: 'session_search_reach_ends',
  parameters: { merchantId: 'text', below: 'int8', above: 'int8', words: 'text[]', status: 'text' },
  columns: { of_words: 'int8[]', of_status: 'int8?' },
  text: `select array(
       select coalesce((
         select ordinal from session_words where merchant_id = :merchantId and word = named and ${isBetween} ${lastInReach}), 0)
       from unnest(:words::text[]) with ordinality as given (named, position) order by position
     ) as of_words,
     case when :status <> '' then coalesce((
       select ordinal from sessions where merchant_id = :merchantId and status = :status and ${isBetween} ${lastInReach}), 0)
     end as of_status`,
});
const found = { session_ids: 'text[]', candidate_count: 'int8', last_id: 'text?' } as const;

// Order and limit cut nothing off. Without them PostgreSQL expects a range to have many words, and reads the whole table.
/** Candidates have one of the words in the ranges, which name few sessions. */
export const foundByRanges = statement({
  name: 'session_search_by_ranges',
  parameters: { ...filters, lows: 'text[]', highs: 'text[]' },
  columns: found,
  text: judged(`select distinct ordinal from unnest(:lows::text[], :highs::text[]) as range (low, high)
     cross join lateral (
       select ordinal from session_words w
       where w.merchant_id = :merchantId and w.word >= low and w.word < high
       order by w.word limit ${searchReach + 1}) as named
     where ${isBetween}
     order by ordinal desc`),
});

// The newest of all are among the newest of each, so no more than the reach of each word is read.
/** Candidates have one of the words, each of which may name many sessions: the index gives those of a word in order. */
export const foundByWords = statement({
  name: 'session_search_by_words',
  parameters: { ...filters, anyOf: 'text[]' },
  columns: found,
  text: judged(`select distinct ordinal from unnest(:anyOf::text[]) as given (named)
     cross join lateral (
       select ordinal from session_words where merchant_id = :merchantId and word = named and ${isBetween}
       order by ordinal desc limit ${searchReach}) as of_word
     order by ordinal desc`),
});

export const foundByStatus = statement({
  name: 'session_search_by_status',
  parameters: filters,
  columns: found,
  text: judged(`select ordinal from sessions where merchant_id = :merchantId and status = :status and ${isBetween}
     order by ordinal desc`),
});

export const foundInAll = statement({
  name: 'session_search_in_all',
  parameters: filters,
  columns: found,
  text: judged(
    `select ordinal from sessions where merchant_id = :merchantId and ${isBetween} order by ordinal desc`,
  ),
});

const { line_items: _, ...otherColumns } = sessionColumns;
const columnList = Object.keys(otherColumns).map((column) => `s.${column}`);

/** Found sessions in their order. Line items are null beyond the limit of bytes. */
export const foundSessions = statement({
  name: 'session_search_found',
  parameters: { sessionIds: 'text[]' },
  columns: { ...otherColumns, line_items: 'text?' },
  text: `select ${columnList.join(', ')}, case when is_read then s.line_items end as line_items from (
     select sessions.*, position, ${isWithinBudget('octet_length(line_items)', 'position')} as is_read
     from unnest(:sessionIds::text[]) with ordinality as wanted (wanted_id, position)
     join sessions on session_id = wanted_id
   ) as s order by position`,
});
