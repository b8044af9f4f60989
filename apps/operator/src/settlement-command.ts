import { CommandError, mandatory, table, UsageError } from '@florin/cli';
import { formatUsd, microUsd } from '@florin/protocol/money.ts';
import { listOpenLegs, releaseOrder } from '@florin/server/operator';
import { type Commands, withDatabase } from './command.ts';
import { recordCommand } from './member-command.ts';

/** The most that are shown at once; the oldest matter most. */
const maxShown = 200;

export const settlementCommands: Commands = {
  'settlement list': {
    does: 'lists delayed settlements, and those that wait for a release',
    examples: ['settlement list'],
    options: [],
    run: withDatabase(async ({ db, config: { chains } }) => {
      const legs = await listOpenLegs(db, maxShown);
      const shown = legs.map(({ netValue, since, retryAt, ...leg }) => ({
        ...leg,
        chain: chains.byId(leg.chainId)?.name ?? String(leg.chainId),
        netValue: netValue.toString(),
        since: since.toISOString(),
        next: retryAt === undefined ? 'held' : retryAt.toISOString(),
      }));
      const rows = shown.map((leg) => [
        leg.orderId,
        leg.leg,
        leg.chain,
        formatUsd(microUsd(BigInt(leg.netValue))),
        leg.reason,
        String(leg.attempts),
        leg.since,
        leg.status === 'sent' ? 'sent' : leg.next,
      ]);
      const headings = ['ORDER', 'LEG', 'CHAIN', 'USD', 'REASON', 'TRIES', 'SINCE', 'NEXT TRY'];
      const text = rows.length === 0 ? 'no settlement is delayed' : table(headings, rows);
      return { text, json: { settlements: shown }, isBad: shown.some(({ next }) => next === 'held') };
    }),
  },
  'settlement release': {
    does: 'sends a held or delayed settlement at once, regardless of the configured caps',
    examples: ['settlement release --order 0x…'],
    options: [mandatory('--order <id>', 'the id of the order')],
    run: withDatabase(async ({ options, db, config, outside }) => {
      const orderId = options.required('order').toLowerCase();
      if (!/^0x[0-9a-f]{64}$/.test(orderId))
        throw new UsageError('--order is an order id: 0x and 64 hexadecimal digits');
      const released = await db.transaction(async (transaction) => {
        const legs = await releaseOrder(transaction, orderId, outside.clock.now());
        const after = JSON.stringify({ legs: legs.map(({ leg }) => leg) });
        const act = { action: 'releaseSettlement', subject: orderId, after };
        if (legs.length > 0)
          await recordCommand(transaction, outside, config, { merchantId: undefined, act });
        return legs;
      });
      if (released.length === 0)
        throw new CommandError(
          `no settlement of the order ${orderId} waits: florin settlement list shows those that do`,
        );
      const names = released.map(({ leg, wasHeld }) => `${leg}${wasHeld ? ' (was held)' : ''}`);
      return { text: `released for ${orderId}: ${names.join(', ')}`, json: { orderId, released } };
    }),
  },
};
