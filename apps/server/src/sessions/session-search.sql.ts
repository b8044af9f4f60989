import { statement } from '@florin/pg';

// Searches a merchant's next sessions in order of creation, by the index of lists. Reads the snapshots as text.
export const searchPiece = statement({
  name: 'session_search_piece',
  parameters: { merchantId: 'text', text: 'text', afterOrdinal: 'int8', limit: 'int8' },
  columns: { found: 'bool?', last: 'int8?' },
  text: `select bool_or(strpos(line_items, :text) > 0) as found, max(ordinal) as last
   from (
     select line_items, ordinal from sessions where merchant_id = :merchantId and ordinal > :afterOrdinal order by ordinal limit :limit
   ) piece`,
});
