import Type from 'typebox';
import { route } from './route.ts';
import { idText, numberPage, pageParams, strictObject, text } from './schema.ts';

/** How long events can be read, in days. */
export const eventLifeDays = 90;

/** An event in the form of webhooks. */
export const event = Type.Object({
  id: Type.String({ description: 'Prefix `evt_`' }),
  type: Type.String({ description: 'Such as `session.paid`' }),
  apiVersion: Type.Literal('v1'),
  timestamp: Type.String({ description: 'RFC 3339' }),
  sequence: Type.Integer({ description: 'Counts the events of one object from 1' }),
  data: Type.Unknown({ description: 'What the matching read returned when it happened' }),
  truncated: Type.Optional(Type.Literal(true)),
  fixture: Type.Optional(
    Type.Literal(true, { description: 'An example that POST /webhook/test sent: nothing happened' }),
  ),
});

/** `?type=&after=`. */
const eventFilter = strictObject({
  type: Type.Optional(
    text({
      min: 1,
      max: 64,
      description: 'A type or a pattern, as in subscribedEvents: session.paid, session.*',
    }),
  ),
  after: Type.Optional(
    text({
      min: 1,
      max: 64,
      description: 'The id of an event: only later events, oldest first',
    }),
  ),
});

const readers =
  'The body is the one that webhooks get, byte for byte. Keys without payer_pii:read see an empty payerEmail, and ' +
  'restricted keys see clientCode as ****.';

const read = { method: 'GET', tag: 'Events', permissions: ['events:read'], effect: 'query' } as const;

/** Events of the merchant API. */
export const eventRoutes = {
  listEvents: route({
    ...read,
    path: '/event/list/:page/:size',
    summary: 'List events, newest first',
    description:
      `The events of the last ${eventLifeDays} days. With after the list holds later events, ` +
      'oldest first. Read page 1, then ask again after its last event, while hasMore. Events whose changes are ' +
      'stored at the same moment can still appear before an event that was already listed; webhooks miss none. ' +
      readers,
    params: pageParams,
    query: eventFilter,
    reply: numberPage({ events: Type.Array(event) }),
    errors: ['event_type_unknown', 'event_not_found', 'field_invalid'],
  }),
  getEvent: route({
    ...read,
    path: '/event/:eventId',
    summary: 'Read an event',
    description: `Events can be read for ${eventLifeDays} days. ${readers}`,
    params: Type.Object({ eventId: idText }),
    reply: event,
    errors: ['event_not_found'],
  }),
} as const;
