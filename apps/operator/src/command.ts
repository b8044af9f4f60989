import {
  type CliOutside,
  CommandError,
  type CommandOf,
  type CommandResult,
  mandatory,
  type Options,
} from '@florin/cli';
import { type Database, openDatabase, type Queryable } from '@florin/pg';
import {
  type Clock,
  type Config,
  clockAhead,
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

/** Commands by their one or two words. */
export type Commands = Readonly<Record<string, Command>>;

export const merchantOption = mandatory('--merchant <id>', 'the merchant');
export const chainOption = mandatory('--chain <name>', "the chain's name in the configuration");

/**
 * The clock of the configured service, which writes the times that commands compare and add to. It is the machine's, but
 * in a local world whose time was moved.
 */
export function serviceClockOf({ clock }: CommandContext, { clockOffsetSeconds }: Config): Clock {
  return clockAhead(clock, () => clockOffsetSeconds * 1_000);
}

/** What a command with the configured database works with. Its environment has the clock of the service. */
interface DatabaseWork {
  readonly options: Options;
  readonly db: Database;
  readonly config: Config;
  readonly outside: CommandContext;
}

/** Runs a command with the configured database. */
export function withDatabase(work: (work: DatabaseWork) => Promise<CommandResult>): Command['run'] {
  return async (options, machine) => {
    const config = readConfig(machine.environment);
    const db = openDatabase({ schema, url: config.databaseUrl.reveal(), connections: 2 });
    try {
      return await work({
        options,
        db,
        config,
        outside: { ...machine, clock: serviceClockOf(machine, config) },
      });
    } finally {
      await db.close();
    }
  };
}

/** The merchant that `--merchant` names. */
export async function requiredMerchant(queryable: Queryable, options: Options): Promise<Merchant> {
  const merchantId = options.required('merchant');
  const merchant = await findMerchant(queryable, merchantId);
  if (merchant === undefined)
    throw new CommandError(`there is no merchant ${merchantId}: florin merchant list shows them`);
  return merchant;
}
