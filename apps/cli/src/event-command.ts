import type { EventFilter, FlorinEvent } from '@florin/sdk';
import { argument, optional } from './command.ts';
import { subjectOf } from './event-tail.ts';
import { apiCommand, listCommand, type MerchantCommands, shown } from './resource.ts';

/** `florin events …` */
export const eventCommands: MerchantCommands = {
  'events list': listCommand<FlorinEvent>({
    does: 'lists the events of the last 90 days, newest first',
    examples: ["events list --type 'session.*'", 'events list --after evt_…'],
    options: [
      optional('--type <type>', 'a type or a pattern, such as session.*'),
      optional('--after <event>', 'events later than this one, oldest first'),
    ],
    columns: {
      EVENT: ({ id }) => id,
      TIME: ({ timestamp }) => timestamp,
      TYPE: (event) => (event.type === 'unknown' ? event.unknownType : event.type),
      SUBJECT: subjectOf,
    },
    list: (florin, options, _outside, size) =>
      florin.events.list({
        type: typeOf(options.optional('type')),
        after: options.optional('after'),
        size,
      }),
  }),
  'events retrieve': apiCommand({
    does: 'shows an event as its webhooks get it',
    argument: argument('<id>', 'the id of an event'),
    examples: ['events retrieve evt_… --json'],
    async run(florin, options) {
      const event = await florin.events.retrieve(options.required('id'));
      return { ...shown(event), text: JSON.stringify(event, undefined, 2) };
    },
  }),
};

/** The service refuses what is neither a type nor a pattern. */
function typeOf(given: string | undefined): EventFilter['type'] {
  return given as EventFilter['type'];
}
