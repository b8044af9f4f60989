import { maxTokenDecimals, minTokenDecimals } from '@florin/protocol/money.ts';
import { type PermitKind, permitKinds, type Token } from '@florin/protocol/token.ts';
import { isVisibleLine, visibleLineRule } from '@florin/protocol/visible-text.ts';
import { type Chain, type Chains, chainsOf } from '#chains/chain.ts';
import { defaultRateLimits, type RateLimits } from '#http/rate-limit.ts';
import type { Rate } from '#http/token-bucket.ts';
import { Secret } from '#outside/secret.ts';
import type { ProcessRole, ServiceSettings } from '#service/options.ts';
import { addressOf, assertCctpFits, attestationUrlOf, contractsFrom } from './contracts.ts';
import { type DatabaseConfig, databaseOf } from './database.ts';
import { ConfigError, type Environment, Fields, type ReadRecorder, readJson, SecretSource } from './field.ts';
import { gaslessOf } from './gasless.ts';
import { type ImagesConfig, imagesOf } from './images.ts';
import { httpOf, monitoringOf, tracingOf } from './listen.ts';
import { type LogConfig, logOf } from './log.ts';
import { nodesOf } from './nodes.ts';
import { retentionOf } from './retention.ts';
import { settlementOf } from './settlement.ts';
import { type Signers, signersOf } from './signer.ts';
import { type SmtpConfig, smtpOf } from './smtp.ts';
import { type WalletConnectConfig, walletConnectOf } from './wallet-connect.ts';

export { ConfigError } from './field.ts';

export const roles = ['web', 'watcher', 'worker'] as const satisfies readonly ProcessRole[];

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
  readonly walletConnect: WalletConnectConfig | undefined;
}

/** How many AI protocol sessions one payer may have open, unless limits are off. */
const openSessionsPerPayer = 20;

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

/**
 * Reads the content of the configuration file and the environment.
 * @param record Gets every setting that is read; for documents.
 */
export function configOf(
  content: unknown,
  environment: Environment,
  file: string,
  record?: ReadRecorder,
): Config {
  const fields = new Fields(content, '', record);
  // Editors find the schema of the settings by it.
  fields.optionalText('$schema');
  const kind = fields.choice('environment', ['local', 'production'], 'production');
  const signer = fields.object('signer');
  const secrets = new SecretSource(environment, signer, fields, kind === 'production' ? file : undefined);
  const chains = chainsFrom(fields);
  const config: Config = {
    environment: kind,
    origin: originOf(fields, kind),
    serviceDomain: serviceDomainOf(fields),
    http: fields.section('http', (http) => httpOf(http, environment)),
    monitoring: monitoringOf(fields, environment),
    tracing: fields.optional('tracing', (name) => fields.section(name, tracingOf)),
    ...databaseOf(fields, secrets),
    roles: rolesOf(fields, environment),
    chains,
    attestationUrl: attestationUrlOf(fields, chains.all),
    fees: fields.section('fees', feesOf),
    ...signersOf(secrets, signer),
    masterKeys: masterKeysOf(secrets),
    webhooks: fields.section('webhooks', (webhooks) => webhooksOf(webhooks, kind)),
    gasless: fields.section('gasless', gaslessOf),
    images: fields.section('images', (images) => imagesOf(images, secrets, kind)),
    smtp: fields.optional('smtp', (name) => fields.section(name, (smtp) => smtpOf(smtp, secrets, kind))),
    settlement: fields.section('settlement', settlementOf),
    retention: fields.section('retention', retentionOf),
    walletDelaySeconds: fields.integer('walletDelaySeconds', {
      least: 0,
      most: 2_592_000,
      fallback: kind === 'local' ? 0 : 86_400,
    }),
    ...fields.section('rateLimits', (limits) => limitsOf(limits, environment)),
    demoPayerKey: demoPayerKeyOf(fields, kind),
    clockOffsetSeconds: clockOffsetOf(fields, kind),
    displayName: displayNameOf(fields),
    consoleUrl: consoleUrlOf(fields, kind),
    fundingUrl: fundingUrlOf(fields),
    walletConnect: fields.optional('walletConnect', (name) => fields.section(name, walletConnectOf)),
    ...logOf(environment),
  };
  secrets.done();
  fields.done();
  for (const part of [config.http, config.fees, config.webhooks, config.images, config.settlement])
    Object.freeze(part);
  return Object.freeze(config);
}

/** Every visitor's request may spend from this plain-text key, so it is for play money only. */
function demoPayerKeyOf(fields: Fields, kind: Config['environment']): Secret | undefined {
  if (!fields.has('demoPayerKey')) return undefined;
  const key = fields.text('demoPayerKey');
  if (kind !== 'local') throw new ConfigError('demoPayerKey is only for the environment local: remove it');
  if (!/^0x[0-9a-fA-F]{64}$/.test(key))
    throw new ConfigError('demoPayerKey must be a private key: 0x and 64 hexadecimal digits');
  return new Secret(key);
}

/** A clock that can be moved would let its mover expire sessions and end delays that guard wallets. */
function clockOffsetOf(fields: Fields, kind: Config['environment']): number {
  if (fields.has('clockOffsetSeconds') && kind !== 'local')
    throw new ConfigError('clockOffsetSeconds is only for the environment local: remove it');
  return fields.integer('clockOffsetSeconds', { least: 0, most: 1_000_000_000, fallback: 0 });
}

function displayNameOf(fields: Fields): string | undefined {
  const name = fields.optionalText('displayName');
  if (name === undefined) return undefined;
  if (name.trim() !== name || name.length > 60 || !isVisibleLine(name))
    throw new ConfigError(
      'displayName must be one line of 1 to 60 visible characters, without spaces around it',
    );
  return name;
}

function consoleUrlOf(fields: Fields, kind: Config['environment']): string | undefined {
  if (!fields.has('consoleUrl')) return undefined;
  const url = fields.text('consoleUrl');
  if (kind !== 'local') throw new ConfigError('consoleUrl is only for the environment local: remove it');
  if (!URL.canParse(url)) throw new ConfigError(`consoleUrl is ${url}: give a URL`);
  return url;
}

/** A page shows it to payers, so it is https. */
function fundingUrlOf(fields: Fields): string | undefined {
  if (!fields.has('fundingUrl')) return undefined;
  const url = fields.text('fundingUrl');
  if (!url.startsWith('https://') || URL.parse(url) === null)
    throw new ConfigError(`fundingUrl is ${url}: give an https URL`);
  return url;
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

function limitsOf(fields: Fields, environment: Environment): Pick<Config, 'maxOpenSessions' | 'rateLimits'> {
  const count = (name: string, fallback: number) =>
    fields.integer(name, { least: 1, most: 1_000_000, fallback });
  const perSecond = (name: string, fallback: Rate): Rate => {
    const rate = count(name, fallback.count);
    return { count: rate, seconds: 1, burst: 2 * rate };
  };
  const perMinute = (name: string, fallback: Rate): Rate => {
    const rate = count(name, fallback.count);
    return { count: rate, seconds: 60, burst: rate };
  };
  const rateLimits: RateLimits = {
    keyReads: perSecond('keyReadsPerSecond', defaultRateLimits.keyReads),
    keyWrites: perSecond('keyWritesPerSecond', defaultRateLimits.keyWrites),
    keyLists: perSecond('keyListsPerSecond', defaultRateLimits.keyLists),
    failedAuthentications: perMinute(
      'failedAuthenticationsPerMinute',
      defaultRateLimits.failedAuthentications,
    ),
    publicReads: perSecond('publicReadsPerSecond', defaultRateLimits.publicReads),
    signedRequests: perMinute('signedRequestsPerMinute', defaultRateLimits.signedRequests),
    linkCreations: perMinute('createsPerLinkPerMinute', defaultRateLimits.linkCreations),
    walletCalls: perMinute('smartAccountChecksPerMinute', defaultRateLimits.walletCalls),
  };
  const maxOpenSessions = count('openSessionsPerPayer', openSessionsPerPayer);
  return areRateLimitsOn(environment)
    ? { maxOpenSessions, rateLimits }
    : { maxOpenSessions: undefined, rateLimits: undefined };
}

function originOf(fields: Fields, kind: Config['environment']): string {
  const text = fields.text('origin');
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || url.origin !== text) {
    throw new ConfigError(
      `origin is ${text}: give scheme, host and port only, such as https://pay.example.com`,
    );
  }
  if (kind === 'production' && url.protocol !== 'https:') {
    throw new ConfigError(`origin is ${text}: production needs https`);
  }
  return text;
}

function serviceDomainOf(fields: Fields): string {
  const domain = fields.text('serviceDomain');
  if (!/^[a-z0-9.-]{1,253}$/.test(domain)) {
    throw new ConfigError(`serviceDomain is ${domain}: give a lower-case domain name such as example.com`);
  }
  return domain;
}

function rolesOf(fields: Fields, environment: Environment): ReadonlySet<ProcessRole> {
  const listed = fields.optional('roles', (name) => fields.list(name)) ?? roles;
  const given = environment['FLORIN_ROLES']?.split(',').map((role) => role.trim()) ?? listed;
  return new Set(
    given.map((role) => {
      const found = roles.find((known) => known === role);
      if (found === undefined)
        throw new ConfigError(`roles names ${String(role)}: the roles are ${roles.join(', ')}`);
      return found;
    }),
  );
}

function chainsFrom(fields: Fields): Chains {
  const chains = fields.sections('chains', chainOf);
  const seen = new Set<string>();
  for (const key of chains.flatMap((chain) => [`chain id ${chain.chainId}`, `chain name ${chain.name}`])) {
    if (seen.has(key)) throw new ConfigError(`chains has ${key} twice: list each chain once`);
    seen.add(key);
  }
  assertCctpFits(chains);
  return chainsOf(chains);
}

function chainOf(fields: Fields): Chain {
  const name = fields.text('name');
  if (!/^[a-z0-9-]{1,32}$/.test(name)) {
    throw new ConfigError(`${fields.path('name')} is ${name}: use lower-case letters, digits and hyphens`);
  }
  const chainId = Number(digits(fields, 'chainId'));
  return {
    name,
    chainId,
    ...nodesOf(fields),
    ...contractsFrom(fields),
    startBlock: BigInt(digits(fields, 'startBlock')),
    pollIntervalMs: fields.integer('pollIntervalMs', { least: 50, most: 60_000, fallback: 1_000 }),
    tokens: tokensOf(fields, name, chainId),
  };
}

function digits(fields: Fields, name: string): string {
  const text = fields.text(name);
  if (!/^(0|[1-9]\d{0,14})$/.test(text))
    throw new ConfigError(`${fields.path(name)} must be a number written in digits`);
  return text;
}

function tokensOf(fields: Fields, chainName: string, chainId: number): Token[] {
  const seen = new Set<string>();
  return fields.sections('tokens', (token) => {
    const tokenId = token.text('tokenId');
    const address = addressOf(token, 'address');
    if (!new RegExp(`^${chainName}::[a-z0-9.-]{1,24}$`).test(tokenId)) {
      throw new ConfigError(
        `${token.path('tokenId')} is ${tokenId}: it must be ${chainName}:: and a lower-case symbol`,
      );
    }
    for (const key of [tokenId, address]) {
      if (seen.has(key)) throw new ConfigError(`${token.path('tokenId')}: ${key} is listed twice`);
      seen.add(key);
    }
    const decimals = token.integer('decimals', { least: 0, most: 255 });
    if (decimals < minTokenDecimals || decimals > maxTokenDecimals) {
      throw new ConfigError(
        `${token.path('decimals')} is ${decimals}: a token needs ${minTokenDecimals} to ${maxTokenDecimals} decimals`,
      );
    }
    return {
      tokenId,
      chainName,
      chainId,
      address,
      name: shownText(token, 'name'),
      symbol: shownText(token, 'symbol'),
      decimals,
      permits: token.optional('permits', () => permitsOf(token)),
    };
  });
}

/** What people see of a token. It is compared with the chain's own, so nothing is dropped. */
function shownText(token: Fields, field: 'name' | 'symbol'): string {
  const shown = token.text(field);
  if (!isVisibleLine(shown)) throw new ConfigError(`${token.path(field)} ${visibleLineRule}`);
  return shown;
}

function permitsOf(token: Fields): readonly PermitKind[] {
  return token.list('permits').map((given) => {
    const kind = permitKinds.find((known) => known === given);
    if (kind === undefined)
      throw new ConfigError(`${token.path('permits')}: write any of ${permitKinds.join(', ')}`);
    return kind;
  });
}

function feesOf(fields: Fields): Config['fees'] {
  const ppm = (name: string, fallback: number) => fields.integer(name, { least: 0, most: 500_000, fallback });
  return {
    sameToken: ppm('sameTokenPpm', 2_000),
    sameChain: ppm('sameChainPpm', 3_000),
    crossChain: ppm('crossChainPpm', 6_000),
  };
}

function webhooksOf(fields: Fields, kind: Config['environment']): Config['webhooks'] {
  const webhooks = {
    allowLoopback: fields.flag('allowLoopback', false),
    pauseAfterFailures: fields.integer('pauseAfterFailures', { least: 1, most: 1_000, fallback: 10 }),
    pauseAfterHours: fields.integer('pauseAfterHours', { least: 0, most: 720, fallback: 72 }),
  };
  if (webhooks.allowLoopback && kind === 'production') {
    throw new ConfigError(
      'webhooks.allowLoopback is true: remove it, because production must not call its own machine',
    );
  }
  return webhooks;
}
