import assert from 'node:assert/strict';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Config, ConfigError, readConfig } from '#config/config.ts';
import type { Environment } from '#config/setting.ts';

export const orderKey = `0x${'11'.repeat(32)}` as const;
export const settlerKey = `0x${'22'.repeat(32)}` as const;
export const masterKey = '33'.repeat(32);
export const usdc = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
export const gateway = '0x5FbDB2315678afecb367f032d93F642f64180aa3';
export const vault = '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512';

export const bucket = {
  endpoint: 'http://127.0.0.1:9000',
  region: 'eu-central-1',
  bucket: 'florin-images',
  accessKeyId: 'AKIDEXAMPLE',
};

// biome-ignore lint/suspicious/noExplicitAny: tests insert mistakes of every type
export type Json = any;

/** A configuration file with every setting that has no default. */
export function completeFile(): Json {
  return {
    environment: 'local',
    origin: 'http://127.0.0.1:4000',
    serviceDomain: 'localhost',
    http: { host: '127.0.0.1', port: 4000 },
    databaseUrl: 'postgres://florin@127.0.0.1/florin',
    chains: [
      {
        name: 'base',
        chainId: '8453',
        rpcUrls: ['https://base.example.com/secret-path'],
        gateway,
        vault: vault.toLowerCase(),
        startBlock: '0',
        tokens: [{ tokenId: 'base::usdc', address: usdc, symbol: 'USDC', name: 'USD Coin', decimals: 6 }],
      },
    ],
    signer: { orderKey, settlerKey },
    masterKey,
  };
}

/** The complete file with one change. */
export function changed(change: (file: Json) => void): Json {
  const file = completeFile();
  change(file);
  return file;
}

/** Configuration files in a separate folder, and the program's results for them. */
export interface ConfigFiles {
  /** Writes a text unchanged and other values as JSON; returns the path. */
  written(content: unknown, mode?: number): Promise<string>;
  read(file: unknown, environment?: Environment, mode?: number): Promise<Config>;
  /** The sentence that refuses a file, with its path as FILE, or `accepted`. */
  mistakeIn(file: unknown, environment?: Environment, mode?: number): Promise<string>;
  close(): Promise<void>;
}

/** Makes the folder; close it in an `after` hook. */
export async function configFiles(): Promise<ConfigFiles> {
  const folder = await mkdtemp(join(tmpdir(), 'florin-config-test-'));
  let count = 0;
  async function written(content: unknown, mode = 0o600): Promise<string> {
    count += 1;
    const path = join(folder, `${count}.json`);
    await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
    await chmod(path, mode);
    return path;
  }
  return {
    written,
    async read(file, environment = {}, mode = 0o600) {
      return readConfig({ FLORIN_CONFIG: await written(file, mode), ...environment });
    },
    async mistakeIn(file, environment = {}, mode = 0o600) {
      const path = await written(file, mode);
      try {
        readConfig({ FLORIN_CONFIG: path, ...environment });
      } catch (error) {
        assert.ok(error instanceof ConfigError, String(error));
        return error.message.replaceAll(path, 'FILE');
      }
      return 'accepted';
    },
    close: () => rm(folder, { recursive: true, force: true }),
  };
}
