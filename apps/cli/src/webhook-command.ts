import { randomBytes } from 'node:crypto';
import { type EventType, eventTypes } from '@florin/protocol/event.ts';
import { eventFixture } from '@florin/protocol/event-fixture.ts';
import { exampleOrigin } from '@florin/protocol/example.ts';
import { newId } from '@florin/protocol/id.ts';
import { Argument } from 'commander';
import { type Command, type CommandContext, type CommandResult, type Options, optional } from './command.ts';
import { CommandError, UsageError } from './command-error.ts';
import { forward, forwardOf } from './forward.ts';
import { type MerchantClient, merchantClient, merchantOptions } from './merchant-client.ts';

/** Calls after which a resend gives up: 500 deliveries each. */
const maxCalls = 10_000;

export const triggerCommand: Command = {
  does: 'sends an example event of a type to a webhook, or straight to a receiver on this machine',
  argument: new Argument('<event>', 'the type of the event, such as session.paid'),
  options: [
    optional('--webhook <id>', 'the webhook that receives it'),
    optional('--forward-to <url>', 'a receiver on this machine, instead of a webhook'),
    optional('--secret <key>', 'signs the event for --forward-to, such as whsec_… (default: a new key)'),
    ...merchantOptions,
  ],
  run(options, outside) {
    const text = options.required('event');
    const eventType = eventTypes.find((type) => type === text);
    if (eventType === undefined)
      throw new UsageError(`${text} is not an event type; the types are ${eventTypes.join(', ')}`);
    const webhookId = options.optional('webhook');
    if (webhookId === undefined) return triggerLocally(options, outside, eventType);
    return triggerWebhook(merchantClient(options, outside), webhookId, eventType);
  },
};

async function triggerWebhook(
  client: MerchantClient,
  webhookId: string,
  eventType: EventType,
): Promise<CommandResult> {
  const made = (await client.post('/webhook/test', { webhookId, eventType })) as Record<string, string>;
  return { text: `sent ${eventType} as ${made['eventId']} in delivery ${made['deliveryId']}`, json: made };
}

async function triggerLocally(
  options: Options,
  outside: CommandContext,
  type: EventType,
): Promise<CommandResult> {
  if (options.optional('forward-to') === undefined) throw new UsageError('give --webhook or --forward-to');
  const target = forwardOf(options);
  const id = newId('event', (size) => randomBytes(size));
  const data = eventFixture(type, exampleOrigin);
  const timestamp = outside.clock.now().toISOString();
  const body = JSON.stringify({ id, type, apiVersion: 'v1', timestamp, sequence: 1, data, fixture: true });
  const { isTaken, status } = await forward(target, outside, { id, body });
  const signed = options.optional('secret') === undefined ? `, signed with ${target.secret}` : '';
  return {
    text: `sent ${type} as ${id} to ${target.url}${signed}: ${status}`,
    json: { eventId: id, secret: target.secret, isTaken, status },
    isBad: !isTaken,
  };
}

export const resendCommand: Command = {
  does: "resends an event, a delivery, or a webhook's deliveries of a period",
  argument: new Argument('[id]', 'the id of an event or a delivery'),
  options: [
    optional('--webhook <id>', 'the webhook whose deliveries are sent again; needs --since'),
    optional('--since <time>', 'the start, such as 2030-01-31T00:00:00Z'),
    optional('--until <time>', 'the end (default: now)'),
    optional('--statuses <statuses>', 'such as failed,skipped'),
    ...merchantOptions,
  ],
  async run(options, outside) {
    const id = options.optional('id');
    const client = merchantClient(options, outside);
    if (id?.startsWith('dlv_') === true) {
      await client.post('/webhook/delivery/resend', { deliveryId: id });
      return { text: `${id} is sent again`, json: { resent: 1 } };
    }
    const webhookId = options.optional('webhook');
    const narrowed = webhookId === undefined ? {} : { webhookId };
    if (id !== undefined) return resendAll(client, { eventId: id, ...narrowed });
    if (webhookId === undefined)
      throw new UsageError('give the id of an event or a delivery, or --webhook and --since');
    return resendAll(client, {
      webhookId,
      since: secondsOf('since', options.required('since')),
      ...(options.optional('until') === undefined
        ? {}
        : { until: secondsOf('until', options.required('until')) }),
      ...(options.optional('statuses') === undefined
        ? {}
        : { statuses: options.required('statuses').split(',') }),
    });
  },
};

async function resendAll(
  client: MerchantClient,
  body: Readonly<Record<string, unknown>>,
): Promise<CommandResult> {
  let resent = 0;
  let after: Record<string, string> = {};
  for (let calls = 0; calls < maxCalls; calls += 1) {
    const reply = await client.post('/webhook/delivery/resend/all', { ...body, ...after });
    const made = reply as { resent: number; hasMore: boolean; last: string };
    resent += made.resent;
    if (!made.hasMore) return { text: `deliveries sent again: ${resent}`, json: { resent } };
    after = { after: made.last };
  }
  throw new CommandError(`stopped after ${resent} deliveries: narrow the period`);
}

/** Unix seconds of a time, in the formats of people and programs. */
function secondsOf(name: string, text: string): number {
  if (/^\d{1,12}$/.test(text)) return Number(text);
  const ms = Date.parse(text);
  if (!/^\d{4}-\d\d-\d\dT.*(Z|[+-]\d\d:\d\d)$/.test(text) || Number.isNaN(ms)) {
    throw new UsageError(`--${name} is ${text}: give a time such as 2030-01-31T00:00:00Z, or Unix seconds`);
  }
  return Math.floor(ms / 1000);
}
