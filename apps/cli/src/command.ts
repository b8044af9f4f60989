import type { Readable, Writable } from 'node:stream';
import { Argument, Option, type Command as Program } from 'commander';
import { UsageError } from './command-error.ts';
import type { McpConversation } from './mcp-conversation.ts';

/** Input and output of a command that exchanges messages with another program. */
export interface Streams {
  readonly input: Readable;
  readonly output: Writable;
}

/** Time, as commands use it. */
export interface CliClock {
  now(): Date;
  /** Milliseconds that never jump; only differences have a meaning. */
  monotonicMs(): number;
  /** Waits; ends early, without an error, when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** A command's environment; `main.ts` passes the process's own, tests theirs. */
export interface CliOutside {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly clock: CliClock;
  /** The folder in which the command was called. */
  readonly folder: string;
  /** Reports the progress of a long command to a person, in sentences. */
  readonly tell: (sentence: string) => void;
  /** Prints a line of a result before the command ends. Without it such lines are left out. */
  readonly emit?: (line: string) => void;
  /** For commands that run until they are ended: returns the signal that ends them. Without it they never end. */
  readonly ending?: () => AbortSignal;
  /** For commands that talk to another program or read a secret. */
  readonly streams?: Streams;
  /** Whether a terminal shows colours; none when absent. */
  readonly colors?: { readonly out: boolean; readonly err: boolean };
  /** For the command that speaks with an assistant. */
  readonly speakMcp?: (conversation: McpConversation) => Promise<void>;
  /** Shows an address in the browser of the person. */
  readonly launch?: (url: string) => void;
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
  /** Whether it is the last of several lines of JSON. */
  readonly isLine?: boolean;
  /** The command worked and found a problem: exit code 1. */
  readonly isBad?: boolean;
}

/** A command of a family, which is run in that family's environment. */
export interface CommandOf<Outside> {
  /** One clause for help. */
  readonly does: string;
  readonly options: readonly Option[];
  /** The one value without an option; none when absent. */
  readonly argument?: Argument;
  /** Command lines that show its use, without the program's name. */
  readonly examples?: readonly string[];
  run(options: Options, outside: Outside): Promise<CommandResult>;
}

/** A value without an option, in commander's notation: `<id>` or `[id]`. */
export function argument(name: string, description: string): Argument {
  return new Argument(name, description);
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

/** The typed options and argument of a command. */
export function optionsOf(typed: Program): Options {
  const values = new Map<string, unknown>([
    ...typed.options.map((option) => [option.name(), typed.getOptionValue(option.attributeName())] as const),
    ...typed.registeredArguments.map((each, place) => [each.name(), typed.processedArgs[place]] as const),
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
