import { randomBytes } from 'node:crypto';
import { type EventType, eventTypes, Florin } from '@florin/sdk';
import { argument, type CliOutside, type CommandResult, type Options, optional } from './command.ts';
import { CommandError, UsageError } from './command-error.ts';
import { type Access, accessOf, accessOptions } from './connection.ts';
import { subjectOf } from './event-tail.ts';
import { forward, forwardTo, receiverOf } from './forward.ts';
import type { RunningWorld } from './local-world.ts';
import type { MerchantCommand } from './resource.ts';
import { notMadePatterns, recipeOf } from './trigger-recipe.ts';

const waitLimitMs = 120_000;
const pollMs = 400;
const pageSize = 50;
/** A text that takes more of them is no misspelt type. */
const mostEdits = 2;

export const triggerCommand: MerchantCommand = {
  does:
    'raises an event: in the local world it happens for real; elsewhere as an example to a webhook or straight to a ' +
    'receiver',
  // Help and completion show the types; another one is refused below, in the words of this program.
  argument: Object.assign(
    argument('<event>', `its type; a local world makes all but ${notMadePatterns.join(', ')}`),
    {
      argChoices: [...eventTypes],
    },
  ),
  examples: [
    'trigger session.paid',
    'trigger refund.completed',
    'trigger refund.failed --webhook wkid_…',
    'trigger session.completed --forward-to localhost:3000/webhooks --secret whsec_…',
  ],
  options: [
    optional('--webhook <id>', 'the webhook that receives an example'),
    optional('--forward-to <url>', 'a receiver that gets an example, such as localhost:3000/webhooks'),
    optional('--secret <key>', 'signs the example for --forward-to, such as whsec_… (default: a new key)'),
    optional('--token <id>', 'what the local world settles in (default: base::usdc)'),
    ...accessOptions,
  ],
  async run(options, outside) {
    const text = options.required('event');
    const type = eventTypes.find((each) => each === text);
    if (type === undefined) {
      const near = nearestType(text);
      const list = near === undefined ? '; the' : `: did you mean ${near}? The`;
      throw new UsageError(`${text} is not an event type${list} types are ${eventTypes.join(', ')}`);
    }
    if (options.optional('forward-to') !== undefined) return triggerLocally(options, outside, type);
    const access = accessOf(options, outside);
    const webhookId = options.optional('webhook');
    if (webhookId !== undefined) return triggerWebhook(access, webhookId, type);
    if (access.world === undefined)
      throw new UsageError(
        'give --webhook or --forward-to; for a real one give --local, in the checkout of a local world or with its FLORIN_HOME',
      );
    return triggerWorld(access, access.world, options, outside, type);
  },
};

/** The type that a misspelt one is nearest to, whole or without its first word: `link.created` too. */
function nearestType(text: string): EventType | undefined {
  const near = eventTypes.map((type) => {
    const [, short = type] = /^\w+\.(.+\..+)$/.exec(type) ?? [];
    return { type, edits: Math.min(editsBetween(text, type), editsBetween(text, short)) };
  });
  const [best] = near.toSorted((left, right) => left.edits - right.edits);
  return best !== undefined && best.edits <= mostEdits ? best.type : undefined;
}

/** How many characters are put in, left out or replaced from one text to the other. */
function editsBetween(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [above, character] of [...from].entries()) {
    const next = [above + 1];
    for (const [index, other] of [...to].entries()) {
      const [corner = 0, up = 0] = row.slice(index, index + 2);
      next.push(Math.min(corner + (character === other ? 0 : 1), up + 1, (next[index] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

/** Makes the event happen in the local world; resolves once it is there. */
async function triggerWorld(
  { url, key }: Access,
  { home, accountId }: RunningWorld,
  options: Options,
  outside: CliOutside,
  type: EventType,
): Promise<CommandResult> {
  const recipe = recipeOf(type);
  if (typeof recipe === 'string')
    throw new UsageError(
      `trigger makes no ${type}, because ${recipe}; --webhook and --forward-to send an example`,
    );
  const { openWorld } = await import('@florin/sdk/testing');
  const florin = new Florin(key, { baseUrl: url });
  const token = options.optional('token') ?? 'base::usdc';
  const waitFor = (awaited: EventType, subject: string) => {
    outside.tell(`waiting for ${awaited} of ${subject}`);
    return waitForEvent(florin, outside, awaited, subject);
  };
  const world = await openWorld({ home });
  const ids = await recipe({ florin, world, accountId, token, tell: outside.tell, waitFor });
  const subject = Object.values(ids).at(-1) ?? '';
  const eventId = await waitFor(type, subject);
  return { text: `raised ${type} as ${eventId} for ${subject}`, json: { eventId, ...ids } };
}

async function waitForEvent(
  florin: Florin,
  { clock }: CliOutside,
  type: EventType,
  subject: string,
): Promise<string> {
  const deadlineMs = clock.monotonicMs() + waitLimitMs;
  while (clock.monotonicMs() < deadlineMs) {
    const { items } = await florin.events.list({ type, size: pageSize }).page();
    const found = items.find((event) => subjectOf(event) === subject);
    if (found !== undefined) return found.id;
    await clock.sleep(pollMs);
  }
  throw new CommandError(`${type} has not come for ${subject} within ${waitLimitMs / 1_000} s`);
}

async function triggerWebhook(
  { url, key }: Access,
  webhookId: string,
  eventType: EventType,
): Promise<CommandResult> {
  const made = await new Florin(key, { baseUrl: url }).webhooks.test(webhookId, { eventType });
  return { text: `sent ${eventType} as ${made.eventId} in delivery ${made.deliveryId}`, json: made };
}

async function triggerLocally(
  options: Options,
  { clock }: CliOutside,
  type: EventType,
): Promise<CommandResult> {
  const given = options.optional('secret');
  const target = forwardTo(
    receiverOf('--forward-to', options.required('forward-to')),
    given ?? `whsec_${randomBytes(32).toString('base64')}`,
  );
  const { fixture } = await import('@florin/sdk/testing');
  const timestamp = clock.now().toISOString();
  const event = { ...fixture(type), id: `evt_${randomBytes(11).toString('hex')}`, timestamp, fixture: true };
  const { isTaken, status } = await forward(target, clock, { id: event.id, body: JSON.stringify(event) });
  const signed = given === undefined ? `, signed with ${target.secret}` : '';
  return {
    text:
      `sent ${type} as ${event.id} to ${target.url}${signed}: ${status}\n` +
      'It is an example (fixture: true): the SDK’s handlers answer it and leave it out, unless takesFixtures is set',
    json: { eventId: event.id, secret: target.secret, isTaken, status },
    isBad: !isTaken,
  };
}
