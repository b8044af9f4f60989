import { isWithinBudget, statement } from '@florin/pg';
import { listTotal, pageColumns, pageLimit, pagePlace, pastTheEnd } from '#db/list-page.ts';

// Housekeeping keeps the last event of an object with an empty body. `body <> ''` is the condition of the index.

const parameters = { merchantId: 'text', oldest: 'timestamptz', size: 'int8', skip: 'int8' } as const;
const parametersOfTypes = { ...parameters, facet: 'text', types: 'text[]' } as const;
/** The body is null beyond the budget of bytes. */
const columns = { ordinal: 'int8', body: 'text?', ...pageColumns } as const;

// Events that are too old are left out, and subtracted from the total, until housekeeping removes them.
const oldEvents = (facet: string) => `old as materialized (
     select list_old_events(:merchantId, ${facet}, :oldest) as ordinals
   )`;
const totalWithoutOld = (facet: string) =>
  `${listTotal('events', facet)} - (select cardinality(ordinals) from old)`;
const isNotOld = 'ordinal <> all ((select ordinals from old)::bigint[])';

export const selectEventPage = statement({
  name: 'webhooks_event_page',
  parameters,
  columns,
  text: `with ${oldEvents("'*'")}, ${pagePlace({
    table: 'events',
    total: totalWithoutOld("'*'"),
    condition: `merchant_id = :merchantId and body <> '' and ${isNotOld}`,
    below: pastTheEnd,
  })}
   select ordinal, case when is_read then body end as body, place.total, ordinal is not null as is_listed
   from place left join lateral (
     select *, ${isWithinBudget('octet_length(body)', 'ordinal desc')} as is_read from (
       select ordinal, body from events
       where merchant_id = :merchantId and body <> '' and ordinal <= (select ordinal from first_row) and ${isNotOld}
       order by ordinal desc limit ${pageLimit}
     ) as rows_of_page
   ) as page on true
   order by page.ordinal desc`,
});

/**
 * One page of the events of several types. Each type has its own index: only the ordinals of the events up to the page's end
 * are read, and the bodies of the page alone.
 */
const pageOfTypes = (condition: string, order: 'asc' | 'desc') => `chosen as materialized (
     select each.event_type, each.ordinal from unnest(:types::text[]) as wanted (event_type)
     cross join lateral (
       select event_type, ordinal from events
       where merchant_id = :merchantId and events.event_type = wanted.event_type and body <> ''
         and ${condition} and ${isNotOld}
       order by ordinal ${order} limit (select :skip::int8 + ${pageLimit})
     ) as each
     order by each.ordinal ${order} offset :skip::int8 limit ${pageLimit}
   )
   select ordinal, case when is_read then body end as body, place.total, ordinal is not null as is_listed
   from place left join lateral (
     select chosen.ordinal, events.body,
       ${isWithinBudget('octet_length(events.body)', `chosen.ordinal ${order}`)} as is_read
     from chosen join events
       on events.merchant_id = :merchantId and events.event_type = chosen.event_type
         and events.ordinal = chosen.ordinal and events.body <> ''
   ) as page on true
   order by page.ordinal ${order}`;

export const eventPageOfTypes = statement({
  name: 'webhooks_event_page_of_types',
  parameters: parametersOfTypes,
  columns,
  text: `with ${oldEvents(':facet')}, place as materialized (
     select ${totalWithoutOld(':facet')} as total
   ), ${pageOfTypes('ordinal > 0', 'desc')}`,
});

export const eventPageAfter = statement({
  name: 'webhooks_event_page_after',
  parameters: { ...parametersOfTypes, afterOrdinal: 'int8' },
  columns,
  text: `with ${oldEvents(':facet')}, place as materialized (
     select count(*) as total from unnest(:types::text[]) as wanted (event_type) cross join lateral (
       select from events
       where merchant_id = :merchantId and events.event_type = wanted.event_type and body <> ''
         and ordinal > :afterOrdinal and ${isNotOld}
     ) as following
   ), ${pageOfTypes('ordinal > :afterOrdinal', 'asc')}`,
});

// The given events in their order, as many as the byte budget allows. Removed ones are left out.
export const eventBodies = statement({
  name: 'webhooks_event_bodies',
  parameters: { merchantId: 'text', ordinals: 'int8[]' },
  columns: { ordinal: 'int8', body: 'text' },
  text: `select ordinal, body from (
     select ordinal, body, position, ${isWithinBudget('octet_length(body)', 'position')} as is_read
     from unnest(:ordinals::int8[]) with ordinality as wanted (wanted_ordinal, position)
     join events on merchant_id = :merchantId and ordinal = wanted_ordinal and body <> ''
   ) as sized where is_read order by position`,
});
