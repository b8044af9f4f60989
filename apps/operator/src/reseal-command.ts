import { resealWebhookKeys } from '@florin/outbox';
import { bytesOf, secretBox } from '@florin/server/operator';
import { type Commands, withDatabase } from './command.ts';

/** Webhooks whose rows one transaction locks. */
const batch = 100;

export const resealCommands: Commands = {
  'webhook reseal': {
    does: 'seals the signing keys of all webhooks under the newest master key',
    examples: ['webhook reseal'],
    options: [],
    run: withDatabase(async ({ db, config, outside: { random } }) => {
      const [newest, ...older] = config.masterKeys;
      const secrets = secretBox([bytesOf(newest), ...older.map(bytesOf)]);
      let resealed = 0;
      let last: string | undefined = '';
      while (last !== undefined) {
        const after: string = last;
        const done = await db.transaction((transaction) =>
          resealWebhookKeys(transaction, { secrets, random }, { after, limit: batch }),
        );
        resealed += done.resealed;
        last = done.last;
      }
      return { text: `resealed the keys of ${resealed} webhooks`, json: { resealed } };
    }),
  },
};
