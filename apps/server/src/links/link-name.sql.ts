import { statement } from '@florin/pg';

export const takeNamedLinks = statement({
  name: 'link_words_take',
  parameters: { limit: 'int8' },
  columns: { link_id: 'text', merchant_id: 'text', link_name: 'text' },
  text: `with taken as (
     delete from link_words_queue where ctid = any (array(select ctid from link_words_queue limit :limit)) returning link_id
   )
   select link_id, merchant_id, link_name from links where link_id in (select link_id from taken)`,
});

export const deleteLinkWords = statement({
  name: 'link_words_delete',
  parameters: { linkIds: 'text[]' },
  text: 'delete from link_words where link_id = any(:linkIds)',
});

// On conflict, as the version before writes words with the link.
export const insertLinkWords = statement({
  name: 'link_words_insert',
  parameters: { merchantIds: 'text[]', linkIds: 'text[]', words: 'text[]' },
  text: `insert into link_words (merchant_id, word, link_id)
   select merchant_id, word, link_id from unnest(:merchantIds::text[], :linkIds::text[], :words::text[]) as given (merchant_id, link_id, words)
   cross join lateral string_to_table(words, ' ') as word on conflict do nothing`,
});

// Few links in all, those of the rarest text first; then every text is compared with the names of all of them. So a link with
// one rare word is found by its frequent ones, too.
export const linksByWords = statement({
  name: 'link_words_find',
  parameters: { merchantId: 'text', texts: 'text[]', end: 'text', limit: 'int8' },
  columns: { text: 'text', link_id: 'text' },
  text: `with named as materialized (
     select link_id from (
       select found.link_id, count(*) over (partition by text) as link_count from unnest(:texts::text[]) as text
       cross join lateral (
         select link_id from link_words
         where merchant_id = :merchantId and word >= text and word < text || :end order by word limit :limit) as found
     ) as counted group by link_id order by min(link_count), link_id limit :limit
   )
   select distinct text, named.link_id from named
   cross join unnest(:texts::text[]) as text
   join link_words w on w.link_id = named.link_id and w.word >= text and w.word < text || :end
   where w.merchant_id = :merchantId`,
});

export const namesOfLinks = statement({
  name: 'link_names',
  parameters: { merchantId: 'text', linkIds: 'text[]' },
  columns: { link_id: 'text', link_name: 'text' },
  text: 'select link_id, link_name from links where link_id = any(:linkIds) and merchant_id = :merchantId',
});
