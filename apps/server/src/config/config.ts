import { maxTokenDecimals, minTokenDecimals } from '@florin/protocol/money.ts';
import type { Token } from '@florin/protocol/token.ts';
import { getAddress } from 'viem';
import { type Chain, type Chains, chainsOf } from '#chains/chain.ts';
import type { RateLimits } from '#http/rate-limit.ts';
import type { Rate } from '#http/token-bucket.ts';
import { Secret } from '#outside/secret.ts';
import type { ProcessRole, ServiceSettings } from '#service/options.ts';
import { assertCctpFits, attestationUrlOf, contractsFrom } from './contracts.ts';
import { type DatabaseConfig, databaseOf } from './database.ts';
import { gaslessOf } from './gasless.ts';
import { type ImagesConfig, imagesOf } from './images.ts';
import { httpOf, monitoringOf } from './listen.ts';
import { type LogConfig, logOf } from './log.ts';
import { nodesOf } from './nodes.ts';
import { readJson, SecretSource } from './secret-source.ts';
import { ConfigError, type Environment, readSetting } from './setting.ts';
import { roles, type Settings, settings } from './settings.ts';
import { settlementOf } from './settlement.ts';
import { shownSettings } from './shown-settings.ts';
import { type Signers, signersOf } from './signer.ts';
import { type SmtpConfig, smtpOf } from './smtp.ts';

export { ConfigError } from './setting.ts';

/** Settings of the service that are read from elsewhere, or need a secret or a file. */
type OtherSettings =
  | 'clock'
  | 'random'
  | 'log'
  | 'databaseConnections'
  | 'reconcileIntervalMs'
  | keyof DatabaseConfig
  | keyof Signers
  | 'masterKeys'
  | 'images'
  | 'smtp'
  | 'demoPayerKey'
  | 'walletConnect';

/** The whole configuration of the service; frozen. */
export interface Config
  extends Required<Omit<ServiceSettings, OtherSettings>>,
    DatabaseConfig,
    Signers,
    Pick<LogConfig, 'logLevel'> {
  /** 32 bytes in hex each. The first seals webhook keys; all can open them. */
  readonly masterKeys: readonly [Secret, ...Secret[]];
  readonly images: ImagesConfig;
  /** Undefined: no e-mails. */
  readonly smtp: SmtpConfig | undefined;
  /** Local worlds only: the key of a wallet that pays for visitors without one. */
  readonly demoPayerKey: Secret | undefined;
  /** Local worlds only: seconds by which the service's clock runs ahead of the machine's. */
  readonly clockOffsetSeconds: number;
  /** Undefined: the pages offer no WalletConnect. */
  readonly walletConnect: Settings['walletConnect'] | undefined;
}

/**
 * Reads the configuration: the JSON file that FLORIN_CONFIG names, and environment variables, which win. Throws a
 * ConfigError with one sentence for the first mistake.
 */
export function readConfig(given: Environment): Config {
  // Compose files and unit files pass unset variables as empty ones.
  const environment = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ''));
  const file = environment['FLORIN_CONFIG'];
  if (file === undefined) {
    throw new ConfigError('FLORIN_CONFIG is not set: give the path of the configuration file');
  }
  return configOf(readJson(file), environment, file);
}

/** Reads the content of the configuration file and the environment. */
function configOf(content: unknown, environment: Environment, file: string): Config {
  const given = readSetting(settings, content);
  const { tracing, walletConnect, fees, webhooks, retention, demoPayerKey } = given;
  const isProduction = given.environment === 'production';
  if (isProduction) refuseLocal(given);
  const secrets = new SecretSource(environment, given, isProduction ? file : undefined);
  const chains = chainsFrom(given.chains);
  const config: Omit<Config, 'configuration'> = {
    environment: given.environment,
    origin: given.origin,
    serviceDomain: given.serviceDomain,
    http: httpOf(given.http, environment),
    monitoring: monitoringOf(given.monitoring, environment),
    tracing: tracing && { url: tracing.url, share: tracing.sharePpm / 1_000_000 },
    ...databaseOf(given, secrets),
    roles: rolesOf(given, environment),
    chains,
    attestationUrl: attestationUrlOf(given.attestationUrl, chains.all),
    fees: { sameToken: fees.sameTokenPpm, sameChain: fees.sameChainPpm, crossChain: fees.crossChainPpm },
    ...signersOf(secrets, given.signer),
    masterKeys: masterKeysOf(secrets),
    webhooks,
    gasless: gaslessOf(given.gasless),
    images: imagesOf(given, secrets),
    smtp: smtpOf(given, secrets),
    settlement: settlementOf(given.settlement),
    retention: {
      unpaidAfterDays: retention.unpaidSessionsDays,
      paidAfterDays: retention.paidSessionsDays,
      emailsAfterDays: retention.payerEmailDays,
      networksAfterDays: retention.payerNetworkDays,
    },
    walletDelaySeconds: given.walletDelaySeconds ?? (isProduction ? 86_400 : 0),
    ...limitsOf(given.rateLimits, environment),
    demoPayerKey: demoPayerKey === undefined ? undefined : new Secret(demoPayerKey),
    clockOffsetSeconds: given.clockOffsetSeconds ?? 0,
    displayName: given.displayName,
    consoleUrl: given.consoleUrl,
    fundingUrl: given.fundingUrl,
    walletConnect,
    ...logOf(environment),
  };
  secrets.done();
  for (const part of [config.http, config.fees, config.webhooks, config.images, config.settlement])
    Object.freeze(part);
  return Object.freeze({ ...config, configuration: shownSettings(given, config) });
}

function refuseLocal({ origin, webhooks, ...given }: Settings): void {
  for (const name of ['demoPayerKey', 'clockOffsetSeconds', 'consoleUrl'] as const)
    if (given[name] !== undefined)
      throw new ConfigError(`${name} is only for the environment local: remove it`);
  if (!origin.startsWith('https:')) throw new ConfigError(`origin is ${origin}: production needs https`);
  if (webhooks.allowLoopback)
    throw new ConfigError(
      'webhooks.allowLoopback is true: remove it, because production must not call its own machine',
    );
}

function masterKeysOf(secrets: SecretSource): Config['masterKeys'] {
  const one = '(0x)?[0-9a-fA-F]{64}';
  const pattern = new RegExp(`^${one}(,${one})*$`);
  const form = '64 hexadecimal digits, or several such keys separated by commas, newest first';
  const [first = '', ...others] = secrets
    .read('FLORIN_MASTER_KEY', 'masterKey', pattern, form)
    .reveal()
    .split(',');
  return [new Secret(first), ...others.map((key) => new Secret(key))];
}

function areRateLimitsOn(environment: Environment): boolean {
  const given = environment['FLORIN_RATE_LIMITS'] ?? 'on';
  if (given !== 'on' && given !== 'off')
    throw new ConfigError(`FLORIN_RATE_LIMITS is ${given}: write on or off`);
  return given === 'on';
}

function limitsOf(
  limits: Settings['rateLimits'],
  environment: Environment,
): Pick<Config, 'maxOpenSessions' | 'rateLimits'> {
  if (!areRateLimitsOn(environment)) return { maxOpenSessions: undefined, rateLimits: undefined };
  const perSecond = (count: number): Rate => ({ count, seconds: 1, burst: 2 * count });
  const perMinute = (count: number): Rate => ({ count, seconds: 60, burst: count });
  const rateLimits: RateLimits = {
    keyReads: perSecond(limits.keyReadsPerSecond),
    keyWrites: perSecond(limits.keyWritesPerSecond),
    keyLists: perSecond(limits.keyListsPerSecond),
    failedAuthentications: perMinute(limits.failedAuthenticationsPerMinute),
    publicReads: perSecond(limits.publicReadsPerSecond),
    signedRequests: perMinute(limits.signedRequestsPerMinute),
    linkCreations: perMinute(limits.createsPerLinkPerMinute),
    walletCalls: perMinute(limits.smartAccountChecksPerMinute),
  };
  return { maxOpenSessions: limits.openSessionsPerPayer, rateLimits };
}

function rolesOf(given: Settings, environment: Environment): ReadonlySet<ProcessRole> {
  const named = environment['FLORIN_ROLES']?.split(',').map((role) => role.trim());
  return new Set(
    named === undefined ? (given.roles ?? roles) : readSetting(settings.properties.roles, named, 'roles'),
  );
}

function chainsFrom(given: Settings['chains']): Chains {
  const chains = given.map(chainOf);
  const seen = new Set<string>();
  for (const key of chains.flatMap((chain) => [`chain id ${chain.chainId}`, `chain name ${chain.name}`])) {
    if (seen.has(key)) throw new ConfigError(`chains has ${key} twice: list each chain once`);
    seen.add(key);
  }
  assertCctpFits(chains);
  return chainsOf(chains);
}

type ChainSettings = Settings['chains'][number];

function chainOf(given: ChainSettings, index: number): Chain {
  const path = `chains[${index}]`;
  return {
    name: given.name,
    chainId: Number(given.chainId),
    ...nodesOf(given, path),
    ...contractsFrom(given),
    startBlock: BigInt(given.startBlock),
    pollIntervalMs: given.pollIntervalMs,
    tokens: tokensOf(given, path),
  };
}

function tokensOf({ name: chainName, chainId, tokens }: ChainSettings, chainPath: string): Token[] {
  const seen = new Set<string>();
  return tokens.map(({ tokenId, decimals, permits, ...token }, index) => {
    const path = `${chainPath}.tokens[${index}]`;
    const address = getAddress(token.address);
    if (!new RegExp(`^${chainName}::[a-z0-9.-]{1,24}$`).test(tokenId))
      throw new ConfigError(
        `${path}.tokenId is ${tokenId}: it must be ${chainName}:: and a lower-case symbol`,
      );
    for (const key of [tokenId, address]) {
      if (seen.has(key)) throw new ConfigError(`${path}.tokenId: ${key} is listed twice`);
      seen.add(key);
    }
    if (decimals < minTokenDecimals || decimals > maxTokenDecimals)
      throw new ConfigError(
        `${path}.decimals is ${decimals}: a token needs ${minTokenDecimals} to ${maxTokenDecimals} decimals`,
      );
    return { ...token, tokenId, chainName, chainId: Number(chainId), address, decimals, permits };
  });
}
