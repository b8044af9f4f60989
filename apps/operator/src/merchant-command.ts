import { mandatory, table } from '@florin/cli';
import { migrate } from '@florin/pg';
import { createMerchant, listMerchants, readConfig, schema } from '@florin/server/operator';
import { type Commands, withDatabase } from './command.ts';
import { recordCommand } from './member-command.ts';

export const merchantCommands: Commands = {
  migrate: {
    does: "updates the database's schema to this version",
    examples: ['migrate'],
    options: [],
    async run(_options, outside) {
      const onWait = (seconds: number) =>
        outside.tell(`Waiting for another process that migrates (${seconds} s)`);
      const url = readConfig(outside.environment).databaseUrl.reveal();
      const { applied } = await migrate(url, schema, { onWait });
      const text = applied.length === 0 ? 'the schema is current' : `applied ${applied.join(', ')}`;
      return { text, json: { applied } };
    },
  },
  'merchant create': {
    does: 'creates a merchant',
    examples: ["merchant create --name 'Tea House'"],
    options: [mandatory('--name <name>', 'the name shown to payers')],
    run: withDatabase(async ({ options, db, config, outside }) => {
      const merchantName = options.required('name');
      const merchant = await db.transaction(async (transaction) => {
        const made = await createMerchant(transaction, outside, { merchantName });
        const { merchantId } = made;
        const act = {
          action: 'createMerchant',
          subject: merchantId,
          after: JSON.stringify({ merchantName: made.merchantName }),
        };
        await recordCommand(transaction, outside, config, { merchantId, act });
        return made;
      });
      return { text: `created merchant ${merchant.merchantId}`, json: merchant };
    }),
  },
  'merchant list': {
    does: 'lists the merchants, oldest first',
    examples: ['merchant list'],
    options: [],
    run: withDatabase(async ({ db }) => {
      const merchants = await listMerchants(db);
      const rows = merchants.map((merchant) => [
        merchant.merchantId,
        merchant.createdAt.toISOString(),
        merchant.merchantName,
      ]);
      return { text: table(['MERCHANT', 'CREATED', 'NAME'], rows), json: merchants };
    }),
  },
};
