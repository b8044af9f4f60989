import type { Florin } from '@florin/sdk';
import { optionalTime, secondsOf } from './body.ts';
import { argument, type CommandResult, type Options, optional } from './command.ts';
import { CommandError, UsageError } from './command-error.ts';
import { apiCommand, type MerchantCommand } from './resource.ts';

/** Calls after which a resend gives up: 500 deliveries each. */
const maxCalls = 10_000;
const statuses = ['succeeded', 'failed', 'skipped'] as const;

type Resend = Parameters<Florin['webhooks']['deliveries']['resendAll']>[0];

export const resendCommand: MerchantCommand = apiCommand({
  does: "resends an event, a delivery, or a webhook's deliveries of a period",
  argument: argument('[id]', 'the id of an event or a delivery'),
  examples: ['resend evt_…', 'resend dlv_…', 'resend --webhook wkid_… --since 2030-01-31T00:00:00Z'],
  options: [
    optional('--webhook <id>', 'the webhook whose deliveries are sent again; needs --since'),
    optional('--since <time>', 'the start, such as 2030-01-31T00:00:00Z'),
    optional('--until <time>', 'the end (default: now)'),
    optional('--statuses <statuses>', 'such as failed,skipped'),
  ],
  async run({ webhooks: { deliveries } }, options) {
    const id = options.optional('id');
    if (id?.startsWith('dlv_') === true) {
      await deliveries.resend(id);
      return { text: `${id} is sent again`, json: { resent: 1 } };
    }
    const webhookId = options.optional('webhook');
    if (id !== undefined) return resendAll(deliveries, { eventId: id, webhookId });
    if (webhookId === undefined)
      throw new UsageError('give the id of an event or a delivery, or --webhook and --since');
    return resendAll(deliveries, {
      webhookId,
      since: secondsOf('since', options.required('since')),
      until: optionalTime(options, 'until'),
      statuses: statusesOf(options),
    });
  },
});

function statusesOf(options: Options): Resend['statuses'] {
  return options
    .optional('statuses')
    ?.split(',')
    .map((given) => {
      const found = statuses.find((status) => status === given.trim());
      if (found === undefined)
        throw new UsageError(`--statuses has ${given}: choose among ${statuses.join(', ')}`);
      return found;
    });
}

async function resendAll(deliveries: Florin['webhooks']['deliveries'], body: Resend): Promise<CommandResult> {
  let resent = 0;
  let after: string | undefined;
  for (let calls = 0; calls < maxCalls; calls += 1) {
    const made = await deliveries.resendAll({ ...body, after });
    resent += made.resent;
    if (!made.hasMore) {
      const reason = resent === 0 ? ': no webhook had a delivery that this names' : '';
      return { text: `deliveries sent again: ${resent}${reason}`, json: { resent } };
    }
    after = made.last;
  }
  throw new CommandError(`stopped after ${resent} deliveries: narrow the period`);
}
