import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LyingRpc, startLyingRpc } from '@florin/evm/testing';
import { type Database, migrate, openDatabase } from '@florin/pg';
import type { Hex } from '@florin/protocol/order.ts';
import {
  type Chains,
  chainsOf,
  createAccount,
  createApiKey,
  createMerchant,
  schema,
  silentLog,
  systemClock,
  systemRandom,
} from '@florin/server/operator';
import type { ProcessRole, ServiceSettings } from '@florin/server/parts';
import { keys, LifeChain, type Receiver, ServiceProcess, startReceiver } from '@florin/server/testing';
import { findFreePort, type Postgres, startPostgres } from '@florin/world';
import { Wallet } from 'ethers';
import { type SmallDisk, smallDisk } from './small-disk.ts';

/** One process of the service, under a supervisor that restarts it. */
export interface ChaosMember {
  readonly name: string;
  readonly process: ServiceProcess;
}

/** A chain behind two node proxies, each of which may return wrong answers. */
export interface ChaosChain {
  readonly life: LifeChain;
  readonly nodes: readonly LyingRpc[];
}

/** The systems that suffer the faults. */
export interface ChaosWorld {
  readonly chains: readonly ChaosChain[];
  readonly configured: Chains;
  readonly members: readonly ChaosMember[];
  readonly origins: readonly string[];
  readonly receiver: Receiver;
  readonly disk: SmallDisk | undefined;
  readonly db: Database;
  readonly merchantWallet: Hex;
  readonly merchantId: string;
  readonly accountId: string;
  readonly secretKey: string;
  /** Ends the database like a power failure, and restarts it. */
  crashDatabase(): Promise<void>;
  /** Restarts the database if it has ended by itself. */
  reviveDatabase(): Promise<void>;
  close(): Promise<void>;
}

const roles: readonly ProcessRole[] = ['web', 'watcher', 'worker'];
const usualReplicas = 2;
/** Space for the cluster with its log, and little more. */
const diskMegabytes = 512;

async function startChain(name: string, chainId: number): Promise<ChaosChain> {
  const life = await LifeChain.start({ name, chainId, tokens: [{ symbol: 'usdc', decimals: 6 }] });
  const nodes = await Promise.all([startLyingRpc(life.anvil.url), startLyingRpc(life.anvil.url)]);
  return { life, nodes };
}

function startDatabase(folder: string, port: number): Promise<Postgres> {
  const settings = { max_wal_size: '64MB', min_wal_size: '32MB' };
  return startPostgres({ dataFolder: join(folder, 'postgres'), port, settings });
}

/** A database that can crash and returns at the same address. */
interface CrashableDatabase {
  readonly url: string;
  /** The small disk on which it is, where the process may mount one. */
  readonly disk?: SmallDisk | undefined;
  /** How long requests wait for it, in seconds; as usual when absent. */
  readonly waitSeconds?: number;
  /** Processes of each role; two when absent. */
  readonly replicas?: number;
  /** The program of the processes, and the migrations that it knows; this checkout's when absent. */
  readonly main?: string;
  readonly migrations?: URL;
  crash(): Promise<void>;
  revive(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts the database of a world in its folder. */
export type DatabaseStarter = (folder: string) => Promise<CrashableDatabase>;

async function crashableDatabase(worldFolder: string): Promise<CrashableDatabase> {
  const disk = await smallDisk(join(worldFolder, 'disk'), diskMegabytes);
  const folder = disk?.folder ?? worldFolder;
  const port = await findFreePort();
  let postgres = await startDatabase(folder, port);
  return {
    url: postgres.url,
    disk,
    async crash() {
      process.kill(postgres.pid, 'SIGKILL');
      await postgres.exited;
      postgres = await startDatabase(folder, port);
    },
    async revive() {
      const hasEnded = await Promise.race([
        postgres.exited.then(() => true),
        systemClock.sleep(200).then(() => false),
      ]);
      if (hasEnded) postgres = await startDatabase(folder, port);
    },
    async stop() {
      await postgres.stop();
      await disk?.close();
    },
  };
}

/** Starts databases, chains, processes and receiver. One merchant has a webhook for every event. */
export async function startChaosWorld(
  startDatabaseOf: DatabaseStarter = crashableDatabase,
): Promise<ChaosWorld> {
  const started = new AsyncDisposableStack();
  try {
    return await buildWorld(started, startDatabaseOf);
  } catch (error) {
    await started.disposeAsync();
    throw error;
  }
}

async function buildWorld(
  started: AsyncDisposableStack,
  startDatabaseOf: DatabaseStarter,
): Promise<ChaosWorld> {
  const folder = await mkdtemp(join(tmpdir(), 'florin-chaos-'));
  started.defer(() => rm(folder, { recursive: true, force: true }));
  await chmod(folder, 0o755);
  const database = await startDatabaseOf(folder);
  started.defer(() => database.stop());
  await migrate(database.url, { ...schema, migrations: database.migrations ?? schema.migrations });
  const receiver = await startReceiver();
  started.defer(() => receiver.close());
  const chains: ChaosChain[] = [];
  for (const [name, chainId] of [
    ['ethereum', 31_337],
    ['base', 31_338],
  ] as const) {
    const chain = await startChain(name, chainId);
    started.defer(() => chain.life.anvil.close());
    for (const node of chain.nodes) started.defer(() => node.close());
    chains.push(chain);
  }
  const configured = chainsOf(
    chains.map(({ life, nodes }) => ({
      ...life.chain,
      rpcUrls: nodes.map(({ url }) => url),
      wsUrls: nodes.map(({ wsUrl }) => wsUrl),
      pollIntervalMs: 100,
    })),
  );
  const db = openDatabase({ schema, url: database.url, connections: 4, onError: () => undefined });
  started.defer(() => db.close());
  const merchantWallet = Wallet.createRandom().address as Hex;
  const merchant = await addMerchant(db, configured, merchantWallet);
  const members: ChaosMember[] = [];
  const origins: string[] = [];
  const masterKey = randomBytes(32);
  const { replicas = usualReplicas } = database;
  for (const [role, name] of roles.flatMap((each) =>
    Array.from({ length: replicas }, (_, place) => [each, `${each} ${place + 1}`] as const),
  )) {
    const port = await findFreePort();
    const options = optionsOf({
      role,
      port,
      database,
      chains: configured,
      receiver,
      masterKey,
    });
    if (role === 'web') origins.push(options.origin);
    const member = { name, process: new ServiceProcess(options) };
    member.process.runFrom(database.main);
    started.defer(() => member.process.stop());
    await member.process.start();
    members.push(member);
  }
  await addWebhook(origins[0] ?? '', merchant.secretKey, receiver.url);
  return {
    ...{ chains, configured, members, origins, receiver, disk: database.disk, db, merchantWallet },
    ...merchant,
    crashDatabase: () => database.crash(),
    reviveDatabase: () => database.revive(),
    close: () => started.disposeAsync(),
  };
}

function optionsOf(given: {
  role: ProcessRole;
  port: number;
  database: CrashableDatabase;
  chains: Chains;
  receiver: Receiver;
  masterKey: Uint8Array;
}): ServiceSettings {
  const { role, port, database, chains, receiver, masterKey } = given;
  return {
    origin: `http://127.0.0.1:${port}`,
    serviceDomain: 'florin.test',
    http: { host: '127.0.0.1', port },
    databaseUrl: database.url,
    ...(database.waitSeconds === undefined ? {} : { databaseWaitSeconds: database.waitSeconds }),
    roles: new Set<ProcessRole>([role]),
    chains,
    fees: { sameToken: 2_000, sameChain: 3_000, crossChain: 6_000 },
    orderKey: keys.orderSigner,
    settlerKey: keys.settler,
    masterKeys: [masterKey],
    webhooks: {
      allowLoopback: true,
      certificateAuthority: receiver.ca,
      pauseAfterFailures: 1_000,
      pauseAfterHours: 72,
    },
    settlement: {
      ...{ mode: 'escrow', batchSize: 50, windowMs: 50, windowSeconds: 0 },
      ...{ notMinedAfterSeconds: 600, keepAfterSeconds: 1_800 },
      ...{ maxBaseFeeGwei: undefined, outflow: undefined },
      reclaimAfterSeconds: 604_800,
      maxFeePerGasGwei: 500,
    },
    maxOpenSessions: undefined,
    rateLimits: undefined,
    clock: systemClock,
    random: systemRandom,
    log: silentLog,
  };
}

async function addMerchant(
  db: Database,
  chains: Chains,
  wallet: Hex,
): Promise<{ merchantId: string; accountId: string; secretKey: string }> {
  const deps = { clock: systemClock, random: systemRandom, chains };
  return db.transaction(async (transaction) => {
    const { merchantId } = await createMerchant(transaction, deps, { merchantName: 'Chaos Shop' });
    const { accountId } = await createAccount(transaction, deps, {
      merchantId,
      accountName: 'Main',
      accountAddress: wallet,
      settlementCurrencies: chains.tokens.map((token) => token.tokenId),
    });
    const { key } = await createApiKey(transaction, deps, { merchantId, kind: 'secret' });
    return { merchantId, accountId, secretKey: key };
  });
}

async function addWebhook(origin: string, secretKey: string, webhookUrl: string): Promise<void> {
  const response = await fetch(`${origin}/payment/v1/webhook/create`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secretKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ webhookName: 'Chaos', webhookUrl, subscribedEvents: ['session.*'] }),
  });
  const { code } = (await response.json()) as { code: number };
  if (code !== 0) throw new Error(`the webhook was refused with ${code}`);
}
