import { isWithinBudget, statement } from '@florin/pg';
import { listPlace, listTotal, pageSize } from '#db/list-page.ts';

// An empty body is what housekeeping leaves of the last event of an object; `body <> ''` is the index's own condition.

// Without those that are too old already: housekeeping has not come by.
const oldEvents = (facet: string, since: string) => `old as materialized (
     select list_old_events($1, ${facet}, ${since}) as ordinals
   )`;
/** Too old events are counted until housekeeping has come by. */
const totalWithoutOld = (facet: string) =>
  `${listTotal('events', facet)} - (select cardinality(ordinals) from old)`;
const notOld = `ordinal <> all ((select ordinals from old)::bigint[])`;
/** The body is null beyond the budget of bytes. */
const listed = { ordinal: 'int8', body: 'text?', total: 'int8?', is_listed: 'bool' } as const;
const bodyBytes = 'octet_length(body)';

export const eventPage = statement(
  'webhooks_event_page',
  ['text', 'timestamptz', 'int8', 'int8'],
  listed,
  `with ${oldEvents("'*'", '$2')}, ${listPlace({
    list: 'events',
    total: totalWithoutOld("'*'"),
    condition: `merchant_id = $1 and body <> '' and ${notOld}`,
    skip: '$4',
  })}
   select ordinal, case when is_read then body end as body, place.total, ordinal is not null as is_listed
   from place left join lateral (
     select *, ${isWithinBudget(bodyBytes, 'ordinal desc')} as is_read from (
       select ordinal, body from events
       where merchant_id = $1 and body <> '' and ordinal <= (select ordinal from first_row) and ${notOld}
       order by ordinal desc limit ${pageSize('$3')}
     ) as rows_of_page
   ) as page on true
   order by page.ordinal desc`,
);

/**
 * The events at these places of the list of several types, each along its own index: only the ordinals of those that
 * come before the page are read.
 */
const eventsOfTypes = (types: string, window: { side: string; order: string; skip: string; size: string }) =>
  `chosen as materialized (
     select each.event_type, each.ordinal from unnest(${types}) as wanted (event_type)
     cross join lateral (
       select event_type, ordinal from events
       where merchant_id = $1 and events.event_type = wanted.event_type and body <> ''
         and ordinal ${window.side} and ${notOld}
       order by ordinal ${window.order} limit (select ${window.skip} + ${window.size})
     ) as each
     order by each.ordinal ${window.order} offset ${window.skip} limit ${window.size}
   )`;

const chosenBodies = (order: string) => `select ordinal, case when is_read then body end as body, place.total,
     ordinal is not null as is_listed
   from place left join lateral (
     select chosen.ordinal, events.body, ${isWithinBudget('octet_length(events.body)', `chosen.ordinal ${order}`)} as is_read
     from chosen join events
       on events.merchant_id = $1 and events.event_type = chosen.event_type and events.ordinal = chosen.ordinal
         and events.body <> ''
   ) as page on true
   order by page.ordinal ${order}`;

export const eventPageOfTypes = statement(
  'webhooks_event_page_of_types',
  ['text', 'timestamptz', 'int8', 'int8', 'text', 'text[]'],
  listed,
  `with ${oldEvents('$5', '$2')}, place as materialized (
     select ${totalWithoutOld('$5')} as total
   ), ${eventsOfTypes('$6::text[]', {
     side: '> 0',
     order: 'desc',
     skip: '$4::int8',
     size: pageSize('$3'),
   })}
   ${chosenBodies('desc')}`,
);

export const eventPageAfter = statement(
  'webhooks_event_page_after',
  ['text', 'timestamptz', 'int8', 'int8', 'text', 'text[]', 'int8'],
  listed,
  `with ${oldEvents('$5', '$2')}, place as materialized (
     select count(*) as total from unnest($6::text[]) as wanted (event_type) cross join lateral (
       select from events
       where merchant_id = $1 and events.event_type = wanted.event_type and body <> '' and ordinal > $7 and ${notOld}
     ) as following
   ), ${eventsOfTypes('$6::text[]', { side: '> $7', order: 'asc', skip: '$4::int8', size: pageSize('$3') })}
   ${chosenBodies('asc')}`,
);

// Of the events given, in their order, those that can still be read: as many as the budget of bytes allows.
export const eventBodies = statement(
  'webhooks_event_bodies',
  ['text', 'int8[]'],
  { ordinal: 'int8', body: 'text' },
  `select ordinal, body from (
     select ordinal, body, position, ${isWithinBudget(bodyBytes, 'position')} as is_read
     from unnest($2::int8[]) with ordinality as wanted (wanted_ordinal, position)
     join events on merchant_id = $1 and ordinal = wanted_ordinal and body <> ''
   ) as sized where is_read order by position`,
);
