import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { openDatabase } from '@florin/pg';
import {
  chainsOf,
  createAccount,
  createApiKey,
  createMerchant,
  schema,
  systemClock,
  systemRandom,
} from '@florin/server/operator';
import {
  composeConfig,
  deployWorld,
  deriveRoles,
  findFreePort,
  startAnvil,
  type WorldConfig,
  type WorldRoles,
} from '@florin/world';
import { english, generateMnemonic } from 'viem/accounts';
import { type Server, startServer } from './child.ts';
import { benchProduct } from './limits/session-row.ts';

/** The product as operators run it, with a merchant who is ready to sell. */
export interface RunningProduct {
  readonly server: Server;
  readonly apiKey: string;
  readonly accountId: string;
  readonly productId: string;
  readonly settlementToken: string;
  readonly config: WorldConfig;
  /** Wallets with tokens and coins on every chain. */
  readonly payers: WorldRoles['payers'];
}

interface ProductOptions {
  /** The folder for the configuration and the program's profile. */
  readonly folder: string;
  /** The URL of an empty database. */
  readonly databaseUrl: string;
  /** The folder for processor profiles. Absent: no profile. */
  readonly profileFolder?: string;
  /** Receives what stops the program and its chains. */
  readonly onEnd: (end: () => Promise<void>) => void;
  /** The rate limits in the format of the configuration. Absent: off. */
  readonly rateLimits?: Readonly<Record<string, number>>;
}

const chainPlans = [
  { name: 'ethereum', chainId: 31_337 },
  { name: 'base', chainId: 31_338 },
] as const;

/** Two chains with the contracts. They run until the end of the bench: a service whose nodes are silent refuses orders. */
async function startChains(options: ProductOptions): Promise<{ config: WorldConfig; roles: WorldRoles }> {
  const mnemonic = generateMnemonic(english);
  const roles = deriveRoles(mnemonic);
  const chains = [];
  for (const plan of chainPlans) {
    const anvil = await startAnvil({ ...plan, mnemonic, mining: 'manual' });
    options.onEnd(anvil.stop);
    chains.push({ ...plan, rpcUrl: anvil.rpcUrl, deployment: await deployWorld(anvil, roles) });
  }
  const config = composeConfig({
    port: await findFreePort(),
    databaseUrl: options.databaseUrl,
    imageFolder: resolve(options.folder, 'images'),
    chains,
    roles,
    keys: { masterKey: randomBytes(32).toString('hex') },
  });
  return { config, roles };
}

async function isReady(origin: string): Promise<boolean> {
  try {
    const response = await fetch(`${origin}/health/ready`, { signal: AbortSignal.timeout(2_000) });
    await response.arrayBuffer();
    return response.status === 200;
  } catch {
    // The program does not listen yet. The start has a time limit.
    return false;
  }
}

async function start(options: ProductOptions, config: WorldConfig): Promise<Server> {
  const path = join(options.folder, 'config.json');
  const { profileFolder, rateLimits } = options;
  const settings = { ...config, roles: ['web'], ...(rateLimits === undefined ? {} : { rateLimits }) };
  writeFileSync(path, JSON.stringify(settings), { mode: 0o600 });
  return startServer({
    name: 'florin',
    script: '../../apps/server/src/main.ts',
    port: config.http.port,
    logFile: join(options.folder, 'florin.log'),
    environment: {
      FLORIN_CONFIG: path,
      FLORIN_RATE_LIMITS: rateLimits === undefined ? 'off' : 'on',
      FLORIN_LOG_LEVEL: process.env['FLORIN_LOG_LEVEL'] ?? 'info',
    },
    isReady,
    ...(profileFolder === undefined
      ? {}
      : { flags: ['--cpu-prof', '--cpu-prof-interval=200', `--cpu-prof-dir=${profileFolder}`] }),
  });
}

async function seed(config: WorldConfig) {
  const db = openDatabase({ schema, url: config.databaseUrl, connections: 1 });
  const chains = chainsOf(
    // The worlds of the benchmarks have no CCTP.
    config.chains.map(({ cctp: _, ...chain }) => ({
      ...chain,
      chainId: Number(chain.chainId),
      startBlock: 0n,
      finality: { ...chain.finality, quorum: 1 },
      tokens: chain.tokens.map((token) => ({
        ...token,
        chainName: chain.name,
        chainId: Number(chain.chainId),
      })),
    })),
  );
  const deps = { clock: systemClock, random: systemRandom, chains };
  const [token] = chains.tokens;
  if (token === undefined) throw new Error('no token is configured');
  try {
    return await db.transaction(async (transaction) => {
      const { merchantId } = await createMerchant(transaction, deps, { merchantName: 'Bench' });
      const { key } = await createApiKey(transaction, deps, { merchantId, kind: 'secret' });
      const { accountId } = await createAccount(transaction, deps, {
        merchantId,
        accountName: 'Main',
        accountAddress: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
        settlementCurrencies: [token.tokenId],
      });
      return { apiKey: key, accountId, settlementToken: token.tokenId };
    });
  } finally {
    await db.close();
  }
}

/** Sends one request to the merchant API and returns `data`. Any code but 0 is an error. */
export async function callProduct(
  { origin }: Server,
  apiKey: string,
  path: string,
  request: { body?: unknown; headers?: Readonly<Record<string, string>> } = {},
): Promise<unknown> {
  const response = await fetch(`${origin}/payment/v1${path}`, {
    headers: {
      authorization: `Bearer ${apiKey}`,
      ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...request.headers,
    },
    ...(request.body === undefined ? {} : { method: 'POST', body: JSON.stringify(request.body) }),
  });
  const reply = (await response.json()) as { code: number; message: string; data: unknown };
  if (reply.code !== 0) throw new Error(`${path}: HTTP ${response.status} ${JSON.stringify(reply)}`);
  return reply.data;
}

/** Starts the program with the role web on an empty database, and creates a merchant. */
export async function startProduct(options: ProductOptions): Promise<RunningProduct> {
  const { config, roles } = await startChains(options);
  const server = await start(options, config);
  options.onEnd(() => server.stop());
  const seeded = await seed(config);
  const data = await callProduct(server, seeded.apiKey, '/product/create', { body: benchProduct });
  const { productId } = data as { productId: string };
  return { server, ...seeded, productId, config, payers: roles.payers };
}
