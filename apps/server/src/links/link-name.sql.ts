import { statement } from '@florin/pg';

export const deleteLinkWords = statement({
  name: 'link_words_delete',
  parameters: { linkId: 'text' },
  columns: {},
  text: 'delete from link_words where link_id = :linkId',
});

export const insertLinkWords = statement({
  name: 'link_words_insert',
  parameters: { merchantId: 'text', linkId: 'text', words: 'text[]' },
  columns: {},
  text: `insert into link_words (merchant_id, word, link_id)
   select :merchantId, word, :linkId from unnest(:words::text[]) as word`,
});

// Each text finds few links, whichever text that is; then every text is compared with the names of all of them. So a link with
// one rare word is found by its frequent ones, too.
export const linksByWords = statement({
  name: 'link_words_find',
  parameters: { merchantId: 'text', texts: 'text[]', end: 'text', limit: 'int8' },
  columns: { text: 'text', link_id: 'text' },
  text: `with named as materialized (
     select distinct found.link_id from unnest(:texts::text[]) as text
     cross join lateral (
       select link_id from link_words
       where merchant_id = :merchantId and word >= text and word < text || :end order by word limit :limit) as found
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
