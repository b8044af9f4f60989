import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { english, generateMnemonic, mnemonicToAccount, privateKeyToAddress } from 'viem/accounts';
import { writeAtomically } from './chain-journal.ts';
import { localChains } from './local-chain.ts';
import { findFreePorts } from './port.ts';

/** A local account and its key. */
export interface KeyPair {
  readonly address: `0x${string}`;
  readonly privateKey: `0x${string}`;
}

/** The secrets that a world draws at its first start and keeps. */
export interface WorldKeys {
  readonly mnemonic: string;
  /** 64 hexadecimal digits: the key that encrypts the service's secrets. */
  readonly masterKey: string;
  /** Proves to the console's process that a caller may read this world's files. */
  readonly controlToken: string;
}

/** The roles of a world. All derive from its mnemonic and have ether from the first block on. */
export interface WorldRoles {
  readonly admin: KeyPair;
  readonly orderSigner: KeyPair;
  readonly settler: KeyPair;
  readonly guardian: KeyPair;
  readonly feeRecipient: KeyPair;
  readonly payers: readonly KeyPair[];
  readonly merchant: KeyPair;
  /** Attests burns in place of Circle. */
  readonly attester: KeyPair;
}

/** Loopback ports besides HTTP, chosen once: `postgres`, `console`, `mailbox`, and every chain by its name. */
export type WorldPorts = Readonly<Record<string, number>>;

/** The port of PostgreSQL, of the console, of the mailbox or of a chain. */
export const portOf = (ports: WorldPorts, name: string): number => {
  const port = ports[name];
  if (port === undefined) throw new Error(`There is no port for ${name}.`);
  return port;
};

/** A database on a server that was there before the world. */
export interface KeptDatabase {
  /** As its owner, with the password. */
  readonly url: string;
  /** `planned`: role and database may be absent. `stale`: it holds what a reset removes. */
  readonly state: 'planned' | 'stale' | 'ready';
}

const PAYER_COUNT = 3;
const DATABASE_FILE = 'database.json';
const SERVICE_FILE = 'service.json';
const LASTING_FILES = new Set(['keys.json', 'ports.json', SERVICE_FILE, DATABASE_FILE]);

const readJson = <Value>(path: string): Value | undefined =>
  existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Value) : undefined;

const writeJson = (path: string, value: unknown): void => {
  writeAtomically(path, `${JSON.stringify(value, undefined, 2)}\n`);
};

/** The roles of a mnemonic, at fixed places of its account list. */
export const deriveRoles = (mnemonic: string): WorldRoles => {
  // Each step from the mnemonic to its list of accounts is slow, so that is done once.
  const accounts = mnemonicToAccount(mnemonic, { path: "m/44'/60'/0'/0" }).getHdKey();
  const derive = (addressIndex: number): KeyPair => {
    const key = accounts.deriveChild(addressIndex).privateKey;
    if (key === null) throw new Error('The mnemonic gives no key.');
    const privateKey = `0x${Buffer.from(key).toString('hex')}` as const;
    return { address: privateKeyToAddress(privateKey), privateKey };
  };
  return {
    admin: derive(0),
    orderSigner: derive(1),
    settler: derive(2),
    guardian: derive(3),
    feeRecipient: derive(4),
    payers: Array.from({ length: PAYER_COUNT }, (_, index) => derive(5 + index)),
    merchant: derive(5 + PAYER_COUNT),
    attester: derive(6 + PAYER_COUNT),
  };
};

/** The data folder of one world and its small files. Every file is written completely or not at all. */
export class WorldHome {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
    // Root's Postgres runs as another user, who must be able to enter; each file with secrets is closed separately.
    mkdirSync(folder, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
  }

  path(...names: readonly string[]): string {
    return join(this.folder, ...names);
  }

  keepKeys(): WorldKeys {
    const path = this.path('keys.json');
    const kept = readJson<Partial<WorldKeys>>(path);
    const keys = {
      mnemonic: kept?.mnemonic ?? generateMnemonic(english),
      masterKey: kept?.masterKey ?? randomBytes(32).toString('hex'),
      controlToken: kept?.controlToken ?? randomBytes(16).toString('hex'),
    };
    if (kept?.controlToken === undefined) writeJson(path, keys);
    return keys;
  }

  async keepPorts(): Promise<WorldPorts> {
    const path = this.path('ports.json');
    const kept = readJson<WorldPorts>(path) ?? {};
    // A world may be older than one of its chains, its console or its mailbox.
    const missing = ['postgres', 'console', 'mailbox', ...localChains.map(({ name }) => name)].filter(
      (name) => kept[name] === undefined,
    );
    if (missing.length === 0) return kept;
    const found = await findFreePorts(missing.length);
    const ports = {
      ...kept,
      ...Object.fromEntries(found.map((port, place) => [missing[place] ?? '', port])),
    };
    writeJson(path, ports);
    return ports;
  }

  /** The port that the service had last; undefined before its first start. */
  readServicePort(): number | undefined {
    return this.read<{ readonly port: number }>(SERVICE_FILE)?.port;
  }

  keepServicePort(port: number): void {
    if (this.readServicePort() !== port) this.write(SERVICE_FILE, { port });
  }

  readDatabase(): KeptDatabase | undefined {
    return this.read<KeptDatabase>(DATABASE_FILE);
  }

  writeDatabase(database: KeptDatabase): void {
    this.write(DATABASE_FILE, database);
  }

  /** Whether the data is in a PostgreSQL that the world itself runs. */
  hasCluster(): boolean {
    return existsSync(this.path('postgres'));
  }

  read<Value>(name: string): Value | undefined {
    return readJson<Value>(this.path(name));
  }

  write(name: string, value: unknown): void {
    writeJson(this.path(name), value);
  }

  remove(name: string): void {
    rmSync(this.path(name), { force: true });
  }

  /** Removes everything except the keys, the ports and the place of the database, whose content is stale from now on. */
  clear(): void {
    const database = this.readDatabase();
    if (database?.state === 'ready') this.writeDatabase({ ...database, state: 'stale' });
    for (const name of readdirSync(this.folder))
      if (!LASTING_FILES.has(name)) rmSync(this.path(name), { recursive: true, force: true });
  }
}
