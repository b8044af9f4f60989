import { Florin, type List } from '@florin/sdk';
import { changesOf, countOf } from './body.ts';
import {
  argument,
  type CliOutside,
  type CommandOf,
  type CommandResult,
  type Options,
  optional,
} from './command.ts';
import { accessOf, accessOptions } from './connection.ts';
import { details, table } from './output.ts';

/** A merchant's command. */
export type MerchantCommand = CommandOf<CliOutside>;

/** Commands by their one or two words. */
export type MerchantCommands = Readonly<Record<string, MerchantCommand>>;

/** A command of the merchant API: its own options and those that find the API. */
export function apiCommand(parts: {
  readonly does: string;
  readonly examples: readonly string[];
  readonly options?: MerchantCommand['options'];
  readonly argument?: NonNullable<MerchantCommand['argument']>;
  readonly run: (
    florin: Florin,
    options: Options,
    outside: CliOutside,
    url: string,
  ) => Promise<CommandResult>;
}): MerchantCommand {
  const { run, options = [], ...others } = parts;
  return {
    ...others,
    options: [...options, ...accessOptions],
    run: (given, outside) => {
      const { url, key } = accessOf(given, outside);
      return run(new Florin(key, { baseUrl: url }), given, outside, url);
    },
  };
}

const defaultLimit = 20;
const maxLimit = 10_000;
const limitOption = optional('--limit <count>', `so many, of at most ${maxLimit} (default: ${defaultLimit})`);

/** The columns of a table: a heading, and what an entry shows below it. */
export type Columns<Item> = Readonly<Record<string, (item: Item) => string>>;

/** A command that lists entries of the API, newest first. */
export function listCommand<Item>(parts: {
  readonly does: string;
  readonly examples: readonly string[];
  readonly options?: MerchantCommand['options'];
  readonly columns: Columns<Item>;
  readonly list: (
    florin: Florin,
    options: Options,
    outside: CliOutside,
    size: number,
  ) => List<Item> | Promise<List<Item>>;
  /** An entry as it may be printed, where the API answers more. */
  readonly shows?: (item: Item) => Item;
}): MerchantCommand {
  const { columns, list, shows = (item) => item, options = [], ...others } = parts;
  return apiCommand({
    ...others,
    options: [...options, limitOption],
    async run(florin, given, outside) {
      const limit = countOf('limit', given.optional('limit') ?? String(defaultLimit), maxLimit);
      // One page where the service gives as many.
      const found = await list(florin, given, outside, Math.min(limit, 100));
      const items = await found.toArray({ limit });
      return listed(items.map(shows), columns);
    },
  });
}

/** Entries as a table, or as an array. */
export function listed<Item>(items: readonly Item[], columns: Columns<Item>): CommandResult {
  const rows = items.map((item) => Object.values(columns).map((show) => show(item)));
  return { text: items.length === 0 ? 'none' : table(Object.keys(columns), rows), json: items };
}

/** One object of the API. */
export function shown(value: object): CommandResult {
  return { text: details(value), json: value };
}

/** A command that reads one object by its id. */
export function retrieveCommand(
  noun: string,
  example: string,
  retrieve: (florin: Florin, id: string, url: string) => Promise<object>,
): MerchantCommand {
  return apiCommand({
    does: `shows ${noun}`,
    argument: argument('<id>', `the id of ${noun}`),
    examples: [example],
    run: async (florin, options, _outside, url) => shown(await retrieve(florin, options.required('id'), url)),
  });
}

/** A command that changes members of one object by its id. What no flag and no member of --body names stays. */
export function updateCommand<Body extends object>(parts: {
  /** `a link` */
  readonly noun: string;
  readonly example: string;
  readonly options: NonNullable<MerchantCommand['options']>;
  /** The members that the flags give; those of --body are added. */
  readonly flags: (options: Options) => { readonly [Name in keyof Body]?: Body[Name] | undefined };
  readonly update: (florin: Florin, id: string, changes: Body) => Promise<object>;
}): MerchantCommand {
  const { noun, example, options, flags, update } = parts;
  return apiCommand({
    does: `changes ${noun}; what no option names stays`,
    argument: argument('<id>', `the id of ${noun}`),
    examples: [example],
    options,
    async run(florin, given, outside) {
      const changes = await changesOf<Body>(given, outside, flags(given));
      return shown(await update(florin, given.required('id'), changes));
    },
  });
}

/** A command that changes one object by its id. */
export function changeCommand(parts: {
  readonly does: string;
  /** `a link` */
  readonly noun: string;
  readonly example: string;
  /** `disabled` */
  readonly did: string;
  readonly options?: MerchantCommand['options'];
  readonly change: (florin: Florin, id: string, options: Options) => Promise<object>;
}): MerchantCommand {
  const { does, noun, example, did, change, options = [] } = parts;
  return apiCommand({
    does,
    argument: argument('<id>', `the id of ${noun}`),
    examples: [example],
    options,
    async run(florin, given) {
      const id = given.required('id');
      return { text: `${id} is ${did}`, json: await change(florin, id, given) };
    },
  });
}
