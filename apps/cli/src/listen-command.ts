import type { Command, Outside } from './command.ts';
import { subjectOf, subscriptionsOf, tailEvents } from './event-tail.ts';
import { forward, forwardOf } from './forward.ts';
import { merchantClient, merchantOptions, merchantUsage } from './merchant-client.ts';

export const listenCommand: Command = {
  usage: `--forward-to URL [--events session.*,refund.*] [--from EVENT] [--secret whsec_…] ${merchantUsage}`,
  does: 'forwards events to a receiver on this machine as they are raised, signed, until Ctrl-C',
  options: ['forward-to', 'events', 'from', 'secret', ...merchantOptions],
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
    return { text: `forwarded ${counts.forwarded}, of which ${counts.taken} were taken`, json: counts };
  },
};

export const eventsCommand: Command = {
  usage: `[--events session.*] [--from EVENT] ${merchantUsage}`,
  does: 'shows events as they are raised, until Ctrl-C',
  options: ['events', 'from', ...merchantOptions],
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

function endingOf({ ending }: Outside): AbortSignal {
  return ending?.() ?? new AbortController().signal;
}
