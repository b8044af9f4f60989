import { mandatory, table } from '@florin/cli';
import { migrate } from '@florin/pg';
import { createMerchant, listMerchants, readConfig, schema } from '@florin/server/operator';
import { type Command, withDatabase } from './command.ts';
import { recordCommand } from './member-command.ts';

export const migrateCommand: Command = {
  does: "updates the database's schema to this version",
  options: [],
  async run(_options, outside) {
    const onWait = (seconds: number) =>
      outside.tell(`Waiting for another process that migrates (${seconds} s)`);
    const url = readConfig(outside.environment).databaseUrl.reveal();
    const { applied } = await migrate(url, schema, { onWait });
    const text = applied.length === 0 ? 'the schema is current' : `applied ${applied.join(', ')}`;
    return { text, json: { applied } };
  },
};

export const createMerchantCommand: Command = {
  does: 'creates a merchant',
  options: [mandatory('--name <name>', 'the name shown to payers')],
  run: (options, machine) =>
    withDatabase(machine, async (db, config, outside) => {
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
};

export const listMerchantsCommand: Command = {
  does: 'lists the merchants, oldest first',
  options: [],
  run: (_options, outside) =>
    withDatabase(outside, async (db) => {
      const merchants = await listMerchants(db);
      const rows = merchants.map((merchant) => [
        merchant.merchantId,
        merchant.createdAt.toISOString(),
        merchant.merchantName,
      ]);
      return { text: table(['MERCHANT', 'CREATED', 'NAME'], rows), json: merchants };
    }),
};
