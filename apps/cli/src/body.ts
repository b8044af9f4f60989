import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { FlorinError, type Usd, usd } from '@florin/sdk';
import { type CliOutside, type Options, optional } from './command.ts';
import { CommandError, UsageError } from './command-error.ts';

/** The option for what has no flag of its own. */
export const bodyOption = optional(
  '--body <json>',
  'members as JSON; @file reads a file, - standard input. Flags win',
);

/** The option of every change that a repetition must not make twice. */
export const idempotencyOption = optional(
  '--idempotency-key <text>',
  'names this change, so that a repetition of it gets the first answer',
);

/** The members of --body and those of the flags, which win. The service checks them. */
export async function bodyOf<Body>(
  options: Options,
  outside: CliOutside,
  flags: { readonly [Name in keyof Body]?: Body[Name] | undefined },
): Promise<Body> {
  const given = Object.entries(flags).filter(([, value]) => value !== undefined);
  return { ...(await readBody(options.optional('body'), outside)), ...Object.fromEntries(given) } as Body;
}

/** The same for an update, which needs a member. */
export async function changesOf<Body extends object>(
  options: Options,
  outside: CliOutside,
  flags: { readonly [Name in keyof Body]?: Body[Name] | undefined },
): Promise<Body> {
  const changes = await bodyOf<Body>(options, outside, flags);
  if (Object.keys(changes).length === 0) throw new UsageError('name what to change');
  return changes;
}

/** Refuses a body without these members, by the flags that give them: the service would name the members. */
export function requireFlags<Body extends object>(
  body: Body,
  flags: { readonly [Name in keyof Body]?: string },
): Body {
  const missing = Object.entries(flags).find(([name]) => !Object.hasOwn(body, name));
  if (missing !== undefined) throw new UsageError(`${String(missing[1])} is missing`);
  return body;
}

async function readBody(source: string | undefined, outside: CliOutside): Promise<object> {
  if (source === undefined) return {};
  const value = parseJson(await sourceText(source, outside));
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new UsageError('--body is no JSON object');
  return value;
}

async function sourceText(source: string, { streams }: CliOutside): Promise<string> {
  if (source === '-') {
    if (streams === undefined) throw new CommandError('there is no standard input to read from');
    return text(streams.input);
  }
  if (!source.startsWith('@')) return source;
  try {
    return readFileSync(source.slice(1), 'utf8');
  } catch (error) {
    throw new CommandError(
      `--body ${source} cannot be read: ${error instanceof Error ? error.message : error}`,
    );
  }
}

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new UsageError(`--body is no JSON: ${error instanceof Error ? error.message : error}`);
  }
}

/** The idempotency key of a change, for the SDK. */
export function callOptionsOf(options: Options): { idempotencyKey: string | undefined } {
  return { idempotencyKey: options.optional('idempotency-key') };
}

/** Micro-USD of an amount in US dollars: `4.50`. */
export function microUsdOf(option: string, amount: string): Usd {
  try {
    return usd(amount);
  } catch (error) {
    if (!(error instanceof FlorinError)) throw error;
    throw new UsageError(`--${option} is ${amount}: give US dollars such as 4.50, up to 10000000`);
  }
}

/** An optional amount in US dollars, in Micro-USD. */
export function optionalAmount(options: Options, option: string): Usd | undefined {
  const amount = options.optional(option);
  return amount === undefined ? undefined : microUsdOf(option, amount);
}

/** A whole number from 1 to a maximum. */
export function countOf(option: string, given: string, max: number): number {
  const count = /^[1-9][0-9]{0,8}$/.test(given) ? Number(given) : 0;
  if (count < 1 || count > max)
    throw new UsageError(`--${option} is ${given}: give a number from 1 to ${max}`);
  return count;
}

/** Both sides of `name=value`, at its first `=`. */
export function pairOf(option: string, given: string, form: string): readonly [name: string, value: string] {
  const at = given.indexOf('=');
  if (at < 1) throw new UsageError(`--${option} is ${given}: give ${form}`);
  return [given.slice(0, at), given.slice(at + 1)];
}

/** Unix seconds of a time, in the formats of people and programs. */
export function secondsOf(option: string, given: string): number {
  if (/^\d{1,12}$/.test(given)) return Number(given);
  const ms = Date.parse(given);
  if (!/^\d{4}-\d\d-\d\dT.*(Z|[+-]\d\d:\d\d)$/.test(given) || Number.isNaN(ms))
    throw new UsageError(
      `--${option} is ${given}: give a time such as 2030-01-31T00:00:00Z, or Unix seconds`,
    );
  return Math.floor(ms / 1000);
}

/** An optional time, in Unix seconds. */
export function optionalTime(options: Options, option: string): number | undefined {
  const given = options.optional(option);
  return given === undefined ? undefined : secondsOf(option, given);
}
