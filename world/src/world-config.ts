import { dashboardOriginOf } from '@florin/server/operator';
import type { ChainDeployment, ConfigCctp, ConfigToken } from './deployment.ts';
import type { WorldKeys, WorldRoles } from './home.ts';
import { LOOPBACK } from './port.ts';
import type { Seed } from './seed.ts';

/** The configuration file of the service in a local world. */
export interface WorldConfig {
  readonly origin: string;
  readonly serviceDomain: string;
  readonly environment: 'local';
  readonly http: { readonly host: string; readonly port: number };
  readonly databaseUrl: string;
  readonly chains: readonly {
    readonly name: string;
    readonly chainId: string;
    readonly rpcUrls: readonly string[];
    readonly gateway: `0x${string}`;
    readonly vault: `0x${string}`;
    readonly startBlock: string;
    readonly finality: { readonly tag: 'finalized'; readonly depth: number };
    readonly pollIntervalMs: number;
    readonly tokens: readonly ConfigToken[];
    readonly cctp?: ConfigCctp;
  }[];
  readonly attestationUrl?: string;
  readonly signer: { readonly orderKey: `0x${string}`; readonly settlerKey: `0x${string}` };
  readonly masterKey: string;
  readonly webhooks: { readonly allowLoopback: boolean };
  readonly images: { readonly folder: string; readonly allowLoopback: boolean };
  /** The mailbox of the world. */
  readonly smtp?: {
    readonly host: string;
    readonly port: number;
    readonly security: 'none';
    readonly from: string;
    readonly fromName: string;
  };
  /** Pays on the hosted pages for visitors without a wallet. */
  readonly demoPayerKey?: `0x${string}`;
  /** Seconds by which the world's time is ahead of the machine's. */
  readonly clockOffsetSeconds?: number;
  /** The console to which a browser at `/` is sent. */
  readonly consoleUrl?: string;
}

/** The file `world.json`, through which people, tests and tools find a running world. */
export interface WorldManifest extends Seed {
  readonly merchantApi: string;
  readonly aiApi: string;
  readonly origin: string;
  /** At `localhost`, because passkeys need a name. */
  readonly dashboard: string;
  /** Where the console and its acts are. */
  readonly console: string;
  /** Where every e-mail of the service arrives: a page; with `.json` at its end, the e-mails themselves. */
  readonly mailbox: string;
  /** The bearer token of the acts, and of the mailbox's JSON. */
  readonly controlToken: string;
  readonly serviceDomain: string;
  readonly databaseUrl: string;
  readonly chains: readonly {
    readonly name: string;
    readonly chainId: string;
    readonly rpcUrl: string;
    readonly gateway: `0x${string}`;
    readonly vault: `0x${string}`;
    readonly tokens: readonly Omit<ConfigToken, 'name' | 'permits'>[];
  }[];
  readonly payers: WorldRoles['payers'];
  /** The demo merchant's wallet, which signs refunds of settled payments. */
  readonly merchantWallet: WorldRoles['merchant'];
}

/** A chain that runs and has its contracts. */
export interface ReadyChain {
  readonly name: string;
  readonly chainId: number;
  readonly rpcUrl: string;
  readonly deployment: ChainDeployment;
}

const SERVICE_DOMAIN = 'localhost';
const POLL_INTERVAL_MS = 250;
const MAIL_SENDER = { from: 'pay@florin.example', fromName: 'Florin' } as const;

/** The origin of a world with this HTTP port. */
export const composeOrigin = (port: number): string => `http://${LOOPBACK}:${port}`;

/** The last payer, because scripts and people take the first. */
const demoPayerOf = ({ payers }: WorldRoles): Pick<WorldConfig, 'demoPayerKey'> => {
  const payer = payers.at(-1);
  return payer === undefined ? {} : { demoPayerKey: payer.privateKey };
};

/** Composes the service's configuration. */
export const composeConfig = (parts: {
  readonly port: number;
  readonly databaseUrl: string;
  readonly imageFolder: string;
  /** Absent: the world has no CCTP. */
  readonly attestationUrl?: string;
  readonly chains: readonly ReadyChain[];
  readonly clockOffsetSeconds?: number;
  readonly consoleUrl?: string;
  /** Of the mailbox; absent: the service sends no e-mails. */
  readonly smtpPort?: number;
  readonly roles: WorldRoles;
  readonly keys: Pick<WorldKeys, 'masterKey'>;
}): WorldConfig => ({
  origin: composeOrigin(parts.port),
  serviceDomain: SERVICE_DOMAIN,
  environment: 'local',
  http: { host: LOOPBACK, port: parts.port },
  databaseUrl: parts.databaseUrl,
  chains: parts.chains.map(({ name, chainId, rpcUrl, deployment }) => ({
    name,
    chainId: String(chainId),
    rpcUrls: [rpcUrl],
    gateway: deployment.gateway,
    vault: deployment.vault,
    startBlock: '0',
    finality: { tag: 'finalized', depth: 0 },
    pollIntervalMs: POLL_INTERVAL_MS,
    tokens: deployment.tokens,
    ...(deployment.cctp === undefined || parts.attestationUrl === undefined ? {} : { cctp: deployment.cctp }),
  })),
  ...(parts.attestationUrl === undefined ? {} : { attestationUrl: parts.attestationUrl }),
  signer: { orderKey: parts.roles.orderSigner.privateKey, settlerKey: parts.roles.settler.privateKey },
  masterKey: parts.keys.masterKey,
  webhooks: { allowLoopback: true },
  images: { folder: parts.imageFolder, allowLoopback: true },
  ...(parts.smtpPort === undefined
    ? {}
    : { smtp: { host: LOOPBACK, port: parts.smtpPort, security: 'none', ...MAIL_SENDER } }),
  ...demoPayerOf(parts.roles),
  ...(parts.consoleUrl === undefined ? {} : { consoleUrl: parts.consoleUrl }),
  ...(parts.clockOffsetSeconds === undefined ? {} : { clockOffsetSeconds: parts.clockOffsetSeconds }),
});

/** Composes the manifest of a world that is ready. */
export const composeManifest = (
  config: WorldConfig,
  seed: Seed,
  roles: WorldRoles,
  control: Pick<WorldManifest, 'console' | 'mailbox' | 'controlToken'>,
): WorldManifest => ({
  merchantApi: `${config.origin}/payment/v1`,
  aiApi: `${config.origin}/aipay/api/v1`,
  origin: config.origin,
  dashboard: `${dashboardOriginOf(config)}/dashboard`,
  ...control,
  serviceDomain: config.serviceDomain,
  merchantId: seed.merchantId,
  secretKey: seed.secretKey,
  restrictedKey: seed.restrictedKey,
  consoleKey: seed.consoleKey,
  ...(seed.dashboardLogin === undefined ? {} : { dashboardLogin: seed.dashboardLogin }),
  accountId: seed.accountId,
  productId: seed.productId,
  linkIds: seed.linkIds,
  databaseUrl: config.databaseUrl,
  chains: config.chains.map(({ name, chainId, rpcUrls, gateway, vault, tokens }) => ({
    name,
    chainId,
    rpcUrl: rpcUrls[0] ?? '',
    gateway,
    vault,
    tokens: tokens.map(({ tokenId, address, symbol, decimals }) => ({ tokenId, address, symbol, decimals })),
  })),
  payers: roles.payers,
  merchantWallet: roles.merchant,
});
