import { isWithinBudget, statement } from '@florin/pg';
import { soleTurn } from '#db/advisory-lock.ts';

/** What is searched of a session. */
const columns = {
  session_id: 'text',
  merchant_id: 'text',
  ordinal: 'int8',
  created_at: 'timestamptz',
  account_id: 'text',
  business_id: 'text',
  receipt_id: 'text',
  order_id: 'text',
  payer: 'text',
  payer_email: 'text',
  initiate_tx: 'text',
  complete_tx: 'text',
  amount: 'int8',
  payment_succeeded_at: 'timestamptz?',
  line_items: 'text',
  metadata: 'text',
} as const;
const columnList = Object.keys(columns).join(', ');

/** One worker at a time: the sessions that it takes from the queue are indexed in the order of their changes. */
export const lockSearchIndex = soleTurn('sessionSearch');

export const takeQueued = statement({
  name: 'session_search_take',
  parameters: { limit: 'int8' },
  columns: { session_ids: 'text[]' },
  text: `delete from session_search_queue where ctid = any (array(select ctid from session_search_queue limit :limit))
   returning session_ids`,
});

// As many as the limit of bytes allows.
export const sessionsToIndex = statement({
  name: 'session_search_sessions',
  parameters: { sessionIds: 'text[]' },
  columns,
  text: `select ${columnList} from (
     select *, ${isWithinBudget('(octet_length(line_items) + octet_length(metadata))', 'session_id')} as is_read
     from sessions where session_id = any (:sessionIds)
   ) as sized where is_read order by session_id`,
});

export const indexedWords = statement({
  name: 'session_search_indexed',
  parameters: { sessionIds: 'text[]' },
  columns: { session_id: 'text', words: 'text' },
  text: 'select session_id, words from session_search where session_id = any (:sessionIds)',
});

// The lock and the words before make the added words new, so they need no `on conflict`, which would double their time.
export const storeIndexed = statement({
  name: 'session_search_store',
  parameters: {
    sessionIds: 'text[]',
    merchantIds: 'text[]',
    ordinals: 'int8[]',
    createdAts: 'timestamptz[]',
    words: 'text[]',
    added: 'text[]',
  },
  text: `with given as materialized (
     select * from unnest(:sessionIds::text[], :merchantIds::text[], :ordinals::int8[], :createdAts::timestamptz[],
       :words::text[], :added::text[]) as given (session_id, merchant_id, ordinal, created_at, words, added)
   ), stored as (
     insert into session_search (session_id, merchant_id, ordinal, created_at, words)
     select session_id, merchant_id, ordinal, created_at, words from given
     on conflict (session_id) do update set words = excluded.words where session_search.words <> excluded.words
   )
   insert into session_words (merchant_id, word, ordinal)
   select merchant_id, word, ordinal from given cross join lateral string_to_table(added, ' ') as word`,
});

export const removeWords = statement({
  name: 'session_search_remove_words',
  parameters: { merchantIds: 'text[]', words: 'text[]', ordinals: 'int8[]' },
  text: `delete from session_words w using unnest(:merchantIds::text[], :words::text[], :ordinals::int8[]) as gone (merchant_id, word, ordinal)
   where w.merchant_id = gone.merchant_id and w.word = gone.word and w.ordinal = gone.ordinal`,
});

export const searchProgress = statement({
  name: 'session_search_progress',
  columns: { version: 'int4', indexed_to: 'text?' },
  text: 'select version, indexed_to from session_search_progress',
});

export const saveProgress = statement({
  name: 'session_search_save_progress',
  parameters: { version: 'int4', indexedTo: 'text?' },
  text: 'update session_search_progress set version = :version, indexed_to = :indexedTo',
});

export const nextSessionIds = statement({
  name: 'session_search_next_ids',
  parameters: { after: 'text', limit: 'int8' },
  columns: { session_id: 'text' },
  text: 'select session_id from sessions where session_id > :after order by session_id limit :limit',
});
