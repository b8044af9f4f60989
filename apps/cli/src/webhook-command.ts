import type { EventSubscription, EventType, Webhook, WebhookCreateRequest, Webhooks } from '@florin/sdk';
import {
  bodyOf,
  bodyOption,
  callOptionsOf,
  countOf,
  idempotencyOption,
  optionalTime,
  requireFlags,
} from './body.ts';
import { argument, type Options, optional } from './command.ts';
import {
  apiCommand,
  changeCommand,
  listCommand,
  type MerchantCommands,
  shown,
  updateCommand,
} from './resource.ts';

const fields = [
  optional('--name <name>', 'your own name for it'),
  optional('--to <url>', 'the receiver, an https address'),
  optional('--events <types>', 'such as session.*,refund.completed'),
  optional('--description <text>', 'what it is for'),
  bodyOption,
];

/** With the key as the service shows it to those who may not read it: terminals and logs keep what is printed. */
function masked(webhook: Webhook): Webhook {
  return { ...webhook, key: `whsec_****${webhook.key.slice(-4)}` };
}

const maxOverlapSeconds = 30 * 24 * 3600;

function fieldsOf(options: Options) {
  return {
    webhookName: options.optional('name'),
    webhookUrl: options.optional('to'),
    // The service refuses what is no type.
    subscribedEvents: options
      .optional('events')
      ?.split(',')
      .map((each) => each.trim() as EventSubscription),
    webhookDescription: options.optional('description'),
  };
}

/** `florin webhooks …` */
export const webhookCommands: MerchantCommands = {
  'webhooks list': listCommand<Webhook>({
    does: 'lists webhooks, without the keys of their signatures',
    examples: ['webhooks list'],
    columns: {
      WEBHOOK: ({ webhookId }) => webhookId,
      STATUS: ({ status }) => status,
      EVENTS: ({ subscribedEvents }) => subscribedEvents.join(' '),
      URL: ({ webhookUrl }) => webhookUrl,
      NAME: ({ webhookName }) => webhookName,
    },
    list: (florin) => florin.webhooks.list(),
    shows: masked,
  }),
  'webhooks retrieve': apiCommand({
    does: 'shows a webhook, without the key of its signatures',
    argument: argument('<id>', 'the id of a webhook'),
    examples: ['webhooks retrieve wkid_…', 'webhooks retrieve wkid_… --show-key'],
    options: [optional('--show-key', 'shows the key, too')],
    async run(florin, options) {
      const webhook = await florin.webhooks.retrieve(options.required('id'));
      return shown(options.flag('show-key') ? webhook : masked(webhook));
    },
  }),
  'webhooks create': apiCommand({
    does: 'registers a receiver and prints the key of its signatures',
    examples: ["webhooks create --name Shop --to https://shop.example.com/hook --events 'session.*'"],
    options: [...fields, idempotencyOption],
    async run(florin, options, outside) {
      const body = await bodyOf<WebhookCreateRequest>(options, outside, fieldsOf(options));
      const flags = { webhookName: '--name', webhookUrl: '--to', subscribedEvents: '--events' };
      return shown(await florin.webhooks.create(requireFlags(body, flags), callOptionsOf(options)));
    },
  }),
  'webhooks update': updateCommand<Parameters<Webhooks['update']>[1]>({
    noun: 'a webhook',
    example: "webhooks update wkid_… --events 'session.paid,refund.*'",
    options: fields,
    flags: fieldsOf,
    update: async (florin, id, changes) => masked(await florin.webhooks.update(id, changes)),
  }),
  'webhooks disable': changeCommand({
    does: 'stops the notifications of a webhook',
    noun: 'a webhook',
    example: 'webhooks disable wkid_…',
    did: 'inactive',
    change: (florin, id) => florin.webhooks.disable(id),
  }),
  'webhooks enable': changeCommand({
    does: 'starts the notifications of a webhook',
    noun: 'a webhook',
    example: 'webhooks enable wkid_… --replay-since 2030-01-31T00:00:00Z',
    did: 'active',
    options: [optional('--replay-since <time>', 'also resends what was skipped or failed since then')],
    change: (florin, id, options) =>
      florin.webhooks.enable(id, { replaySince: optionalTime(options, 'replay-since') }),
  }),
  'webhooks refresh-key': apiCommand({
    does: 'makes a new key for the signatures of a webhook, and prints it',
    argument: argument('<id>', 'the id of a webhook'),
    examples: ['webhooks refresh-key wkid_… --overlap 86400'],
    options: [optional('--overlap <seconds>', 'how long the old key signs, too (default: not at all)')],
    async run(florin, options) {
      const id = options.required('id');
      const overlap = options.optional('overlap');
      const overlapSeconds =
        overlap === undefined ? undefined : countOf('overlap', overlap, maxOverlapSeconds);
      await florin.webhooks.refreshKey(id, { overlapSeconds });
      return shown(await florin.webhooks.retrieve(id));
    },
  }),
  'webhooks remove': changeCommand({
    does: 'deletes a webhook with its deliveries for good',
    noun: 'a webhook',
    example: 'webhooks remove wkid_…',
    did: 'removed',
    change: (florin, id) => florin.webhooks.remove(id),
  }),
  'webhooks test': apiCommand({
    does: 'sends a test event to a webhook',
    argument: argument('<id>', 'the id of a webhook'),
    examples: ['webhooks test wkid_…', 'webhooks test wkid_… --event session.paid'],
    options: [optional('--event <type>', 'an example of this type (default: webhook.test)')],
    async run(florin, options) {
      const eventType = eventTypeOf(options.optional('event'));
      const made = await florin.webhooks.test(options.required('id'), { eventType });
      return { text: `sent ${made.eventId} in delivery ${made.deliveryId}`, json: made };
    },
  }),
};

/** The service refuses what is no type. */
function eventTypeOf(given: string | undefined): EventType | undefined {
  return given as EventType | undefined;
}
