import { type Command, type CommandContext, mandatory, optional } from './command.ts';
import { subjectOf, subscriptionsOf, tailEvents } from './event-tail.ts';
import { forward, forwardOf } from './forward.ts';
import { merchantClient, merchantOptions } from './merchant-client.ts';

const eventsOption = optional('--events <types>', 'only these, such as session.*,refund.* (default: all)');
const fromOption = optional('--from <event>', 'start after this event (default: now)');

export const listenCommand: Command = {
  does: 'forwards events to a receiver on this machine as they are raised, signed, until Ctrl-C',
  options: [
    mandatory('--forward-to <url>', 'the receiver, such as http://127.0.0.1:3000/webhooks'),
    eventsOption,
    fromOption,
    optional('--secret <key>', 'signs the events, such as whsec_… (default: a new key)'),
    ...merchantOptions,
  ],
  async run(options, outside) {
    const target = forwardOf(options);
    const client = merchantClient(options, outside);
    const counts = { forwarded: 0, taken: 0 };
    outside.tell(`Forwarding to ${target.url}. Verify with this key: ${target.secret}`);
    await tailEvents(client, outside, {
      subscriptions: subscriptionsOf(options),
      from: options.optional('from'),
      signal: endingOf(outside),
      async handle(event) {
        const body = await client.getText(`/event/${event.id}`);
        const { isTaken, status } = await forward(target, outside, { id: event.id, body });
        counts.forwarded += 1;
        if (isTaken) counts.taken += 1;
        outside.tell(
          `${isTaken ? 'ok  ' : 'FAIL'}  ${event.type}  ${subjectOf(event)}  ${event.id}  ${status}`,
        );
      },
    });
    return { text: `forwarded ${counts.forwarded}, of which ${counts.taken} were accepted`, json: counts };
  },
};

export const eventsCommand: Command = {
  does: 'shows events as they are raised, until Ctrl-C',
  options: [eventsOption, fromOption, ...merchantOptions],
  async run(options, outside) {
    let shown = 0;
    await tailEvents(merchantClient(options, outside), outside, {
      subscriptions: subscriptionsOf(options),
      from: options.optional('from'),
      signal: endingOf(outside),
      async handle(event) {
        shown += 1;
        outside.tell(`${event.timestamp}  ${event.type}  ${subjectOf(event)}  ${event.id}`);
      },
    });
    return { text: `showed ${shown} events`, json: { shown } };
  },
};

function endingOf({ ending }: CommandContext): AbortSignal {
  return ending?.() ?? new AbortController().signal;
}
