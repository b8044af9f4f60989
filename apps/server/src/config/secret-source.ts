import { readFileSync, statSync } from 'node:fs';
import type { Hex } from '@florin/protocol/order.ts';
import { decryptKeystore } from '@florin/signing';
import { Secret } from '#outside/secret.ts';
import { ConfigError, type Environment } from './setting.ts';
import type { Settings } from './settings.ts';

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

const fileSecrets = [
  ...(['databaseUrl', 'databaseReplicaUrl', 'masterKey'] as const),
  ...(['imagesSecretKey', 'smtpPassword'] as const),
];
type FileSecret = (typeof fileSecrets)[number];

/** The sources of secrets: a variable, a file that a variable names, a keystore, or the configuration file. */
export class SecretSource {
  readonly #environment: Environment;
  readonly #settings: Pick<Settings, FileSecret | 'signer'>;
  /** Set in production: a file with secrets must not be readable by other users. */
  readonly #guardedFile: string | undefined;
  readonly #read = new Set<string>();

  constructor(
    environment: Environment,
    settings: Pick<Settings, FileSecret | 'signer'>,
    guardedFile: string | undefined,
  ) {
    this.#environment = environment;
    this.#settings = settings;
    this.#guardedFile = guardedFile;
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

  /** Refuses secrets of the file that nothing has asked for. */
  done(): void {
    const { signer } = this.#settings;
    const keys = Object.keys(signer).filter((name) => name.endsWith('Key'));
    const given = [
      ...fileSecrets.filter((name) => this.#settings[name] !== undefined),
      ...keys.map((name) => `signer.${name}`),
    ];
    const unused = given.find((path) => !this.#read.has(path));
    if (unused !== undefined) throw new ConfigError(`${unused} is not used: remove it`);
  }

  /** Refuses a secret in a file that others can read. */
  #guarded(path: string, value: string | undefined): string | undefined {
    this.#read.add(path);
    if (
      value !== undefined &&
      this.#guardedFile !== undefined &&
      (statSync(this.#guardedFile).mode & 0o077) !== 0
    ) {
      throw new ConfigError(
        `${this.#guardedFile} holds ${path} and can be read by others: chmod 600 it, or use the environment`,
      );
    }
    return value;
  }

  read(variable: string, name: FileSecret, pattern: RegExp, form: string): Secret {
    const value = this.optional(variable, name, pattern, form);
    if (value === undefined)
      throw new ConfigError(`${name} is missing: set ${variable}, or ${name} in the file`);
    return value;
  }

  optional(variable: string, name: FileSecret, pattern: RegExp, form: string): Secret | undefined {
    const fromFile = this.#guarded(name, this.#settings[name]);
    const value = this.#variable(variable) ?? fromFile;
    if (value === undefined) return undefined;
    if (!pattern.test(value)) throw new ConfigError(`${name} must be ${form}`);
    return new Secret(value);
  }

  privateKey(
    name: 'ORDER_SIGNER' | 'SETTLER' | `SETTLER_${number}`,
    field: `${'order' | 'settler' | `settler${number}`}Key`,
  ): Secret {
    const variable = `FLORIN_${name}_KEY`;
    const { [field]: given }: Readonly<Record<string, unknown>> = this.#settings.signer;
    const fromFile = this.#guarded(`signer.${field}`, typeof given === 'string' ? given : undefined);
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
