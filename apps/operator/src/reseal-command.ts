import { resealWebhookKeys } from '@florin/outbox';
import { bytesOf, secretBox } from '@florin/server/operator';
import { type Command, withDatabase } from './command.ts';

/** Webhooks whose rows one transaction locks. */
const batch = 100;

export const resealCommand: Command = {
  does: 'seals the signing keys of all webhooks under the newest master key',
  options: [],
  run: (_options, outside) =>
    withDatabase(outside, async (db, { masterKeys: [newest, ...older] }) => {
      const secrets = secretBox([bytesOf(newest), ...older.map(bytesOf)]);
      let resealed = 0;
      let last: string | undefined = '';
      while (last !== undefined) {
        const after: string = last;
        const done = await db.transaction((transaction) =>
          resealWebhookKeys(transaction, { secrets, random: outside.random }, { after, limit: batch }),
        );
        resealed += done.resealed;
        last = done.last;
      }
      return { text: `resealed the keys of ${resealed} webhooks`, json: { resealed } };
    }),
};
