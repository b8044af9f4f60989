import { readFileSync, statSync } from 'node:fs';
import type { Hex } from '@florin/protocol/order.ts';
import { decryptKeystore } from '@florin/signing';
import { Secret } from '#outside/secret.ts';

/** The environment variables of the process. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A mistake in the configuration: one sentence that says what to change. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** What a reader asks of one setting. */
export type SettingForm =
  | { readonly type: 'text'; readonly fallback?: string | undefined }
  | { readonly type: 'flag'; readonly fallback: boolean }
  | {
      readonly type: 'integer';
      readonly least: number;
      readonly most: number;
      readonly fallback?: number | undefined;
    }
  | { readonly type: 'choice'; readonly choices: readonly string[]; readonly fallback?: string | undefined }
  | { readonly type: 'list' | 'object' | 'optional' };

/** Gets every read of a setting, by its path without places in lists; for documents. */
export type ReadRecorder = (path: string, form: SettingForm) => void;

/** Reads one object of the configuration file by field, and knows its path for error messages. */
export class Fields {
  readonly #path: string;
  readonly #values: Readonly<Record<string, unknown>>;
  readonly #read = new Set<string>();
  readonly #record: ReadRecorder | undefined;

  constructor(value: unknown, path = '', record?: ReadRecorder) {
    this.#record = record;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw new ConfigError(`${path === '' ? 'the configuration' : path} must be an object`);
    }
    this.#values = value as Record<string, unknown>;
    this.#path = path;
  }

  path(name: string): string {
    return this.#path === '' ? name : `${this.#path}.${name}`;
  }

  #take(name: string, form: SettingForm): unknown {
    this.#tell(name, form);
    this.#read.add(name);
    return this.#values[name];
  }

  #tell(name: string, form: SettingForm): void {
    this.#record?.(this.path(name).replaceAll(/\[\d+\]/g, '[]'), form);
  }

  /** A setting that is asked for may be absent. */
  has(name: string): boolean {
    this.#tell(name, { type: 'optional' });
    return this.#values[name] !== undefined;
  }

  text(name: string, fallback?: string, remedy = 'add it to the file'): string {
    const value = this.#take(name, { type: 'text', fallback }) ?? fallback;
    if (value === undefined || value === '')
      throw new ConfigError(`${this.path(name)} is missing: ${remedy}`);
    if (typeof value !== 'string') throw new ConfigError(`${this.path(name)} must be a string`);
    return value;
  }

  optionalText(name: string): string | undefined {
    return this.optional(name, () => this.text(name));
  }

  flag(name: string, fallback: boolean): boolean {
    const value = this.#take(name, { type: 'flag', fallback }) ?? fallback;
    if (typeof value !== 'boolean') throw new ConfigError(`${this.path(name)} must be true or false`);
    return value;
  }

  integer(name: string, range: { least: number; most: number; fallback?: number }): number {
    const value = this.#take(name, { type: 'integer', ...range }) ?? range.fallback;
    if (typeof value !== 'number' || !Number.isInteger(value) || value < range.least || value > range.most) {
      throw new ConfigError(`${this.path(name)} must be an integer from ${range.least} to ${range.most}`);
    }
    return value;
  }

  choice<const Choice extends string>(name: string, choices: readonly Choice[], fallback?: Choice): Choice {
    const value = this.#take(name, { type: 'choice', choices, fallback }) ?? fallback;
    const found = choices.find((choice) => choice === value);
    if (found === undefined) throw new ConfigError(`${this.path(name)} must be one of ${choices.join(', ')}`);
    return found;
  }

  list(name: string): readonly unknown[] {
    const value = this.#take(name, { type: 'list' });
    if (!Array.isArray(value) || value.length === 0) {
      throw new ConfigError(`${this.path(name)} must be a list with at least one entry`);
    }
    return value;
  }

  /** What `read` makes of a setting that may be absent. */
  optional<Value>(name: string, read: (name: string) => Value): Value | undefined {
    return this.has(name) ? read(name) : undefined;
  }

  object(name: string): Fields {
    return new Fields(this.#take(name, { type: 'object' }) ?? {}, this.path(name), this.#record);
  }

  /** What `read` makes of an object, of which it must read every field. */
  section<Value>(name: string, read: (fields: Fields) => Value): Value {
    return readWhole(this.object(name), read);
  }

  /** The same for each object of a list. */
  sections<Value>(name: string, read: (fields: Fields) => Value): Value[] {
    return this.list(name).map((value, index) =>
      readWhole(new Fields(value, `${this.path(name)}[${index}]`, this.#record), read),
    );
  }

  /** Refuses unread fields: a typing error would otherwise be a setting without effect. */
  done(): void {
    const unknown = Object.keys(this.#values).filter((name) => !this.#read.has(name));
    if (unknown[0] !== undefined)
      throw new ConfigError(`${this.path(unknown[0])} is not a known setting: remove it`);
  }
}

function readWhole<Value>(fields: Fields, read: (fields: Fields) => Value): Value {
  const value = read(fields);
  fields.done();
  return value;
}

/** Reads a JSON file that an operator wrote. */
export function readJson(path: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new ConfigError(`${path} cannot be read: ${(error as Error).message}`);
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    // Only the position: the parser's message quotes the surrounding text, which may be a secret.
    const place = /line \d+ column \d+/.exec((error as Error).message)?.[0] ?? 'a comma, quote or brace';
    throw new ConfigError(`${path} is not JSON: correct it (check ${place})`);
  }
}

function isPrivateKey(text: string): text is Hex {
  if (!/^0x[0-9a-fA-F]{64}$/.test(text)) return false;
  // Valid secp256k1 keys are from 1 to the group order minus one.
  const key = BigInt(text);
  return key > 0n && key < 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
}

/** The sources of secrets: a variable, a file that a variable names, a keystore, or the configuration file. */
export class SecretSource {
  readonly #environment: Environment;
  readonly #signer: Fields;
  readonly #fields: Fields;
  /** Set in production: a file with secrets must not be readable by other users. */
  readonly #guardedFile: string | undefined;

  constructor(environment: Environment, signer: Fields, fields: Fields, guardedFile: string | undefined) {
    this.#environment = environment;
    this.#signer = signer;
    this.#fields = fields;
    this.#guardedFile = guardedFile;
  }

  done(): void {
    this.#signer.done();
  }

  /** A variable, or the file that the variable with `_FILE` names. */
  #variable(name: string): string | undefined {
    const path = this.#environment[`${name}_FILE`];
    const value = this.#environment[name];
    if (path === undefined) return value;
    if (value !== undefined) throw new ConfigError(`${name} and ${name}_FILE are both set: keep one of them`);
    try {
      return readFileSync(path, 'utf8').trim();
    } catch (error) {
      throw new ConfigError(`${name}_FILE names ${path}, which cannot be read: ${(error as Error).message}`);
    }
  }

  #fromFile(fields: Fields, name: string): string | undefined {
    const value = fields.optionalText(name);
    if (
      value !== undefined &&
      this.#guardedFile !== undefined &&
      (statSync(this.#guardedFile).mode & 0o077) !== 0
    ) {
      throw new ConfigError(
        `${this.#guardedFile} holds ${fields.path(name)} and can be read by others: chmod 600 it, or use the environment`,
      );
    }
    return value;
  }

  read(variable: string, name: string, pattern: RegExp, form: string): Secret {
    const value = this.optional(variable, name, pattern, form);
    if (value === undefined)
      throw new ConfigError(`${name} is missing: set ${variable}, or ${name} in the file`);
    return value;
  }

  optional(variable: string, name: string, pattern: RegExp, form: string): Secret | undefined {
    const fromFile = this.#fromFile(this.#fields, name);
    const value = this.#variable(variable) ?? fromFile;
    if (value === undefined) return undefined;
    if (!pattern.test(value)) throw new ConfigError(`${name} must be ${form}`);
    return new Secret(value);
  }

  privateKey(name: 'ORDER_SIGNER' | 'SETTLER' | `SETTLER_${number}`, field: string): Secret {
    const variable = `FLORIN_${name}_KEY`;
    const fromFile = this.#fromFile(this.#signer, field);
    const value = this.#keystore(`FLORIN_${name}`) ?? this.#variable(variable) ?? fromFile;
    if (value === undefined) {
      throw new ConfigError(
        `signer.${field} is missing: set ${variable}, or FLORIN_${name}_KEYSTORE with its password`,
      );
    }
    if (!isPrivateKey(value)) {
      throw new ConfigError(`signer.${field} must be a private key: 0x and 64 hexadecimal digits`);
    }
    return new Secret(value);
  }

  #keystore(prefix: string): string | undefined {
    const path = this.#environment[`${prefix}_KEYSTORE`];
    if (path === undefined) return undefined;
    const password = this.#variable(`${prefix}_PASSWORD`);
    if (password === undefined) throw new ConfigError(`${prefix}_KEYSTORE is set without ${prefix}_PASSWORD`);
    try {
      return decryptKeystore(readJson(path), password);
    } catch (error) {
      throw new ConfigError(`the keystore ${path} cannot be opened: ${(error as Error).message}`);
    }
  }
}
