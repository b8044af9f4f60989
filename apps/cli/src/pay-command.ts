import { argument, optional } from './command.ts';
import { CommandError } from './command-error.ts';
import { requiredWorld } from './local-world.ts';
import { details } from './output.ts';
import type { MerchantCommand } from './resource.ts';

const states = ['detected', 'paid', 'completed'] as const;

export const payCommand: MerchantCommand = {
  does: 'pays a session from a wallet of the local world, and waits until it is paid',
  argument: argument('<session>', 'the id of a session, or the address of its page'),
  examples: ['pay sess_…', 'pay sess_… --token ethereum::usdt --until completed'],
  options: [
    optional('--token <id>', 'what is paid with, such as ethereum::usdt (default: one on base)'),
    optional('--until <state>', 'what to wait for (default: paid)').choices(states),
  ],
  async run(options, outside) {
    const { home } = requiredWorld(outside);
    const sessionId = /sess_\w+/.exec(options.required('session'))?.[0];
    if (sessionId === undefined)
      throw new CommandError(
        `${options.required('session')} names no session: sess_…, or the address of its page`,
      );
    const { openWorld } = await import('@florin/sdk/testing');
    const world = await openWorld({ home });
    const until = options.choice('until', states) ?? 'paid';
    const { session } = await world.pay(sessionId, {
      token: options.optional('token'),
      until: until === 'detected' ? false : until,
    });
    const { status, amount, paidToken, receiptId, initiateTx, completeTx } = session;
    return {
      text: details({ sessionId, status, amount, paidToken, receiptId, initiateTx, completeTx }),
      json: session,
    };
  },
};
