import { statement } from '@florin/pg';

// A piece of a merchant's sessions in order of creation, by the index that lists have; the snapshots are read as text.
export const searchPiece = statement(
  'session_search_piece',
  ['text', 'text', 'int8', 'int8'],
  { found: 'bool?', last: 'int8?' },
  `select bool_or(strpos(line_items, $2) > 0) as found, max(ordinal) as last
   from (
     select line_items, ordinal from sessions where merchant_id = $1 and ordinal > $3 order by ordinal limit $4
   ) piece`,
);
