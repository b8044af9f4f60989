import { type CliOutside, CommandError, type CommandOf, mandatory, type Options } from '@florin/cli';
import { type Database, openDatabase, type Queryable } from '@florin/pg';
import {
  type Clock,
  type Config,
  findMerchant,
  type Merchant,
  type Random,
  readConfig,
  schema,
} from '@florin/server/operator';

/** An operator's command's environment; `main.ts` passes the process's own, tests theirs. */
export interface CommandContext extends CliOutside {
  readonly clock: Clock;
  readonly random: Random;
}

/** An operator's command. */
export type Command = CommandOf<CommandContext>;

export const merchantOption = mandatory('--merchant <id>', 'the merchant');
export const chainOption = mandatory('--chain <name>', "the chain's name in the configuration");

/** Opens the configured database for one command. */
export async function withDatabase<T>(
  outside: CommandContext,
  work: (db: Database, config: Config) => Promise<T>,
): Promise<T> {
  const config = readConfig(outside.environment);
  const db = openDatabase({ schema, url: config.databaseUrl.reveal(), connections: 2 });
  try {
    return await work(db, config);
  } finally {
    await db.close();
  }
}

/** The merchant that `--merchant` names. */
export async function requiredMerchant(queryable: Queryable, options: Options): Promise<Merchant> {
  const merchantId = options.required('merchant');
  const merchant = await findMerchant(queryable, merchantId);
  if (merchant === undefined)
    throw new CommandError(`there is no merchant ${merchantId}: florin merchant list shows them`);
  return merchant;
}
