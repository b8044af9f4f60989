import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CommandError } from '@florin/cli';
import { encryptKeystore } from '@florin/signing';
import { bytesToHex, getAddress, type Hex } from 'viem';
import { privateKeyToAddress } from 'viem/accounts';
import type { CommandContext } from './command.ts';

/** A chain of a configuration that may still lack its contracts. */
export interface DraftChain {
  readonly name: string;
  readonly chainId: string;
  readonly rpcUrls: readonly string[];
  readonly tokens: readonly object[];
  readonly gateway?: string;
  readonly vault?: string;
  readonly startBlock?: string;
}

/** A configuration file that may still lack something. */
export interface DraftConfig {
  readonly environment?: string;
  readonly origin?: string;
  readonly serviceDomain?: string;
  readonly http?: { readonly trustedProxies?: readonly string[] };
  readonly monitoring?: object;
  readonly chains?: readonly DraftChain[];
}

/** The folder of an installation's configuration. */
export interface InitFolder {
  readonly path: (name: string) => string;
  /** The text of a file; undefined where it is missing. */
  readonly read: (name: string) => string | undefined;
  /** Writes a new file that only its owner can read. Never over another: it may be the only copy of a key. */
  readonly write: (name: string, text: string) => void;
  /** The configuration, with the contracts that `deploy` has written beside it. */
  readonly readConfig: () => DraftConfig;
  readonly writeConfig: (config: DraftConfig) => void;
}

const configName = 'florin.json';

export function openFolder(folder: string): InitFolder {
  const path = (name: string) => join(folder, name);
  const read = (name: string) =>
    existsSync(path(name)) ? readFileSync(path(name), 'utf8').trim() : undefined;
  const readObject = (name: string): object => {
    try {
      return JSON.parse(read(name) ?? '{}') as object;
    } catch {
      throw new CommandError(`${path(name)} is not JSON: correct it`);
    }
  };
  return {
    path,
    read,
    write: (name, text) => writeFileSync(path(name), `${text}\n`, { mode: 0o600, flag: 'wx' }),
    readConfig() {
      const config: DraftConfig = readObject(configName);
      if (config.chains === undefined) return config;
      const chains = config.chains.map((chain) => ({ ...chain, ...readObject(`${chain.name}.json`) }));
      return { ...config, chains };
    },
    writeConfig: (config) =>
      writeFileSync(path(configName), `${JSON.stringify(config, undefined, 2)}\n`, { mode: 0o600 }),
  };
}

/** The secrets of a folder: addresses of its keys, and the environment that names its files. */
export interface KeptKeys {
  readonly orderSigner: Hex;
  readonly settler: Hex;
  readonly environment: Readonly<Record<string, string>>;
}

/** Makes what the folder lacks: keystores with their passwords, the master key, the files of the environment. */
export function keepKeys(files: InitFolder, outside: CommandContext, databaseUrl: string): KeptKeys {
  const words = (bytes: number) => Buffer.from(outside.random.bytes(bytes)).toString('hex');
  if (files.read('master.key') === undefined) files.write('master.key', words(32));
  if (files.read('database.url') === undefined) files.write('database.url', databaseUrl);
  const orderSigner = keepKeystore('order-signer');
  const settler = keepKeystore('settler');
  const environment = {
    FLORIN_CONFIG: files.path(configName),
    DATABASE_URL_FILE: files.path('database.url'),
    FLORIN_MASTER_KEY_FILE: files.path('master.key'),
    FLORIN_ORDER_SIGNER_KEYSTORE: files.path('order-signer.json'),
    FLORIN_ORDER_SIGNER_PASSWORD_FILE: files.path('order-signer.password'),
    FLORIN_SETTLER_KEYSTORE: files.path('settler.json'),
    FLORIN_SETTLER_PASSWORD_FILE: files.path('settler.password'),
  };
  if (files.read('florin.env') === undefined) {
    const lines = Object.entries(environment).map(([name, value]) => `export ${name}='${value}'`);
    files.write('florin.env', lines.join('\n'));
  }
  return { orderSigner, settler, environment };

  function keepKeystore(name: string): Hex {
    const found = files.read(`${name}.json`);
    if (found !== undefined) return addressIn(found, files.path(`${name}.json`));
    const [privateKey, password] = [bytesToHex(outside.random.bytes(32)), words(24)];
    files.write(`${name}.password`, password);
    files.write(`${name}.json`, encryptKeystore(outside.random, { privateKey, password }));
    return privateKeyToAddress(privateKey);
  }
}

function addressIn(keystore: string, path: string): Hex {
  const [, digits] = /"address"\s*:\s*"(?:0x)?([0-9a-fA-F]{40})"/.exec(keystore) ?? [];
  if (digits === undefined) throw new CommandError(`${path} names no address: make it with keystore create`);
  return getAddress(`0x${digits}`);
}
