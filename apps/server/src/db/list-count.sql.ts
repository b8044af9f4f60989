import { statement } from '@florin/pg';
import { soleTurn } from './advisory-lock.ts';

/** Only one worker adds changes at a time: two could deadlock on the same totals. */
export const lockListCounts = soleTurn('listCounts');

/** Moves changes into the totals, and returns their number. */
export const addListChanges = statement({
  name: 'list_changes_add',
  parameters: { limit: 'int8' },
  columns: { taken: 'int8' },
  text: `with taken as (
     delete from list_total_changes where ctid = any (array(
       select ctid from list_total_changes order by merchant_id, list limit :limit))
     returning merchant_id, list, facet, change
   ), added as (
     insert into list_totals as total (merchant_id, list, facet, row_count)
     select merchant_id, list, facet, sum(change) from taken
     group by merchant_id, list, facet having sum(change) <> 0
     on conflict (merchant_id, list, facet) do update set row_count = total.row_count + excluded.row_count
   )
   select count(*) as taken from taken`,
});
