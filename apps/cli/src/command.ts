import type { Readable, Writable } from 'node:stream';
import { type Database, openDatabase, type Queryable } from '@florin/pg';
import {
  type Clock,
  type Config,
  type Environment,
  findMerchant,
  type Merchant,
  type Random,
  readConfig,
  schema,
} from '@florin/server/operator';
import { type Argument, Option, type Command as Program } from 'commander';
import { CommandError, UsageError } from './command-error.ts';

/** Input and output of a command that exchanges messages with another program. */
export interface Streams {
  readonly input: Readable;
  readonly output: Writable;
}

/** A command's environment; `main.ts` passes the process's own, tests theirs. */
export interface CommandContext {
  readonly environment: Environment;
  readonly clock: Clock;
  readonly random: Random;
  /** Reports the progress of a long command to a person, in sentences. */
  readonly tell: (sentence: string) => void;
  /** For commands that run until they are ended: returns the signal that ends them. Without it they never end. */
  readonly ending?: () => AbortSignal;
  /** For commands that talk to another program; they refuse to run without them. */
  readonly streams?: Streams;
}

/** A command's typed values, by the names of its options and its argument. */
export interface Options {
  /** Throws a UsageError when it is missing or empty. */
  required(name: string): string;
  optional(name: string): string | undefined;
  /** Whether an option without a value is there. */
  flag(name: string): boolean;
  /** Every value of a repeatable option; empty when absent. */
  all(name: string): readonly string[];
  /** Undefined when absent; throws a UsageError for any value outside the choices. */
  choice<const Choice extends string>(name: string, choices: readonly Choice[]): Choice | undefined;
}

/** The result of a command. */
export interface CommandResult {
  /** For people. */
  readonly text: string;
  /** For `--json`. */
  readonly json: unknown;
  /** The command worked and found a problem: exit code 1. */
  readonly isBad?: boolean;
}

export interface Command {
  /** The description in help. */
  readonly does: string;
  readonly options: readonly Option[];
  /** The one value without an option; none when absent. */
  readonly argument?: Argument;
  run(options: Options, outside: CommandContext): Promise<CommandResult>;
}

/** A required option, in commander's notation: `--name <name>`. */
export function mandatory(flags: string, description: string): Option {
  return optional(flags, description).makeOptionMandatory();
}

/** An option that may be left out. */
export function optional(flags: string, description: string): Option {
  return new Option(flags, description);
}

/** An option that may be repeated. */
export function repeatable(flags: string, description: string): Option {
  return optional(flags, `${description} (may be repeated)`).argParser((value, earlier: string[] = []) => [
    ...earlier,
    value,
  ]);
}

export const merchantOption = mandatory('--merchant <id>', 'the merchant');
export const chainOption = mandatory('--chain <name>', "the chain's name in the configuration");

/** The typed options and argument of a command. */
export function optionsOf(typed: Program): Options {
  const values = new Map<string, unknown>([
    ...typed.options.map((option) => [option.name(), typed.getOptionValue(option.attributeName())] as const),
    ...typed.registeredArguments.map(
      (argument, place) => [argument.name(), typed.processedArgs[place]] as const,
    ),
  ]);
  const optionalValue = (name: string) => {
    const value = values.get(name);
    return typeof value === 'string' ? value : undefined;
  };
  return {
    optional: optionalValue,
    flag: (name) => values.get(name) === true,
    all(name) {
      const value = values.get(name);
      return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
    },
    required(name) {
      const value = optionalValue(name);
      if (value === undefined || value === '') throw new UsageError(`--${name} is missing`);
      return value;
    },
    choice(name, choices) {
      const value = optionalValue(name);
      if (value === undefined) return undefined;
      const found = choices.find((choice) => choice === value);
      if (found === undefined) throw new UsageError(`--${name} is ${value}: choose ${choices.join(' or ')}`);
      return found;
    },
  };
}

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

/** Rows below their headings, in aligned columns. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [headings, ...rows];
  const widths = headings.map((_, index) => Math.max(...all.map((row) => row[index]?.length ?? 0)));
  return all
    .map((row) =>
      row
        .map((cell, index) => cell.padEnd(widths[index] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
