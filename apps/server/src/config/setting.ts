import Type, { type Static, type TProperties, type TSchema } from 'typebox';

/** A mistake in the configuration: one sentence that says what to change. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** The environment variables of the process. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** What a setting says of itself besides its type. */
interface SettingWords {
  /**
   * Markdown, as a part of a sentence. Absent: the words of the section around it; where that has none, those of the setting
   * before it, whose row of the documents it shares. Empty: in no row.
   */
  readonly meaning?: string | undefined;
  /** Of an absent setting, in the documents; the default without it, or `none`. */
  readonly absent?: string;
  /** What the operator's screen shows: a URL's host, because the rest may be a key; or nothing. The value when absent. */
  readonly shown?: 'host' | 'never';
  /** For local worlds alone, and in no document. */
  readonly isLocal?: true;
}

interface TextWords extends SettingWords {
  readonly default?: string;
  readonly pattern?: RegExp;
  /** What `pattern` cannot say. */
  readonly accepts?: (text: string) => boolean;
  /** What follows the path of a wrong text, which stands for `{}`. */
  readonly wrong?: string;
  /** What to do where it is missing. */
  readonly remedy?: string;
}

export function text(words: TextWords = {}) {
  return Type.String({ ...words });
}

/** A text that may come from the environment instead. */
export function secret(words: SettingWords = {}) {
  return Type.Optional(text({ shown: 'never', absent: '', ...words }));
}

export function flag(words: SettingWords & { readonly default: boolean }) {
  return Type.Boolean({ ...words });
}

export function integer(
  minimum: number,
  maximum: number,
  words: SettingWords & { readonly default?: number } = {},
) {
  return Type.Integer({ minimum, maximum, ...words });
}

export function choice<const Choice extends string>(
  choices: readonly Choice[],
  words: SettingWords & { readonly default?: Choice } = {},
) {
  return Type.Enum<Choice[]>(choices, { ...words });
}

/** At least one of these. `wrong` follows the path of the list where a choice is none, which stands for `{}`. */
export function list<Item extends TSchema>(
  item: Item,
  words: SettingWords & { readonly wrong?: string } = {},
) {
  return Type.Array(item, { minItems: 1, ...words });
}

/** Settings that belong together; each has its default, or all of them do when the section is absent. */
export function section<Members extends TProperties>(members: Members, words: SettingWords = {}) {
  return Type.Object(members, { default: {}, ...words });
}

/** The same without a default: a section that is optional, or an entry of a list. */
export function group<Members extends TProperties>(members: Members, words: SettingWords = {}) {
  return Type.Object(members, { ...words });
}

/** What the functions above make, for what reads any of it. */
export interface Setting extends SettingWords {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  /** Groups of different kinds: each has a literal `kind`. */
  readonly anyOf?: readonly Setting[];
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, Setting>>;
  readonly required?: readonly string[] | undefined;
  readonly items?: Setting;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly pattern?: RegExp;
  readonly accepts?: TextWords['accepts'];
  readonly wrong?: string;
  readonly remedy?: string;
}

/** The given value with the defaults of what is absent. Throws a ConfigError for its first mistake. */
export function readSetting<Schema extends TSchema>(
  schema: Schema,
  given: unknown,
  path = '',
): Static<Schema> {
  return readValue(schema as Setting, given, path) as Static<Schema>;
}

function readValue(setting: Setting, given: unknown, path: string): unknown {
  const value = given ?? setting.default;
  if (setting.anyOf !== undefined) return readValue(branchOf(setting.anyOf, value, path), value, path);
  if (setting.enum !== undefined) {
    if (setting.enum.includes(value)) return value;
    throw new ConfigError(`${path} must be one of ${setting.enum.join(', ')}`);
  }
  switch (setting.type) {
    case 'object':
      return membersOf(setting, value, path);
    case 'array':
      return itemsOf(setting, value, path);
    case 'boolean':
      if (typeof value === 'boolean') return value;
      throw new ConfigError(`${path} must be true or false`);
    case 'integer': {
      const { minimum = 0, maximum = 0 } = setting;
      if (typeof value === 'number' && Number.isInteger(value) && value >= minimum && value <= maximum)
        return value;
      throw new ConfigError(`${path} must be an integer from ${minimum} to ${maximum}`);
    }
    default:
      return setting.const === undefined ? textOf(setting, value, path) : value;
  }
}

function textOf(
  { remedy = 'add it to the file', pattern, accepts, wrong = '' }: Setting,
  value: unknown,
  path: string,
): string {
  if (value === undefined || value === null || value === '')
    throw new ConfigError(`${path} is missing: ${remedy}`);
  if (typeof value !== 'string') throw new ConfigError(`${path} must be a string`);
  if (pattern?.test(value) === false || accepts?.(value) === false)
    throw new ConfigError(`${path} ${wrong.replace('{}', () => value)}`);
  return value;
}

function itemsOf({ items = {}, wrong }: Setting, value: unknown, path: string): unknown[] {
  if (!Array.isArray(value) || value.length === 0)
    throw new ConfigError(`${path} must be a list with at least one entry`);
  const odd = wrong === undefined ? [] : value.filter((item) => items.enum?.includes(item) === false);
  if (odd.length > 0) throw new ConfigError(`${path}${wrong?.replace('{}', () => String(odd[0]))}`);
  return value.map((item, index) => readValue(items, item, `${path}[${index}]`));
}

function membersOf({ properties = {}, required = [] }: Setting, value: unknown, path: string) {
  if (!isObject(value))
    throw new ConfigError(`${path === '' ? 'the configuration' : path} must be an object`);
  const pathOf = (name: string) => (path === '' ? name : `${path}.${name}`);
  const present = Object.entries(properties).filter(
    ([name]) => value[name] !== undefined || required.includes(name),
  );
  const read = present.map(([name, member]) => [name, readValue(member, value[name], pathOf(name))] as const);
  // A typing error would otherwise be a setting without effect.
  const unknown = Object.keys(value).find((name) => !Object.hasOwn(properties, name));
  if (unknown !== undefined) throw new ConfigError(`${pathOf(unknown)} is not a known setting: remove it`);
  return Object.fromEntries(read);
}

function branchOf(branches: readonly Setting[], value: unknown, path: string): Setting {
  if (!isObject(value)) throw new ConfigError(`${path} must be an object`);
  const kinds = branches.map(({ properties }) => properties?.['kind']?.const);
  const branch = branches[kinds.indexOf(value['kind'])];
  if (branch === undefined) throw new ConfigError(`${path}.kind must be one of ${kinds.join(', ')}`);
  return branch;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
