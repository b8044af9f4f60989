import type { Hex } from '@florin/protocol/order.ts';
import { hexToBytes } from 'viem';
import type { Config } from '#config/config.ts';
import { openSigners } from '#config/signer.ts';
import type { SmtpConfig } from '#config/smtp.ts';
import { walletConnectModule } from '#config/wallet-connect.ts';
import type { SmtpSettings } from '#mail/smtp.ts';
import type { Clock } from '#outside/clock.ts';
import type { Random } from '#outside/random.ts';
import type { Secret } from '#outside/secret.ts';
import type { ServiceOptions, ServiceSettings } from '#service/options.ts';
import type { Log } from '#telemetry/log.ts';

/** Builds the service's settings from the configuration and the outside world. */
export function serviceOptionsOf(
  config: Config,
  outside: { clock: Clock; random: Random; log: Log },
): ServiceSettings {
  const [masterKey, ...olderMasterKeys] = config.masterKeys;
  return {
    ...outside,
    environment: config.environment,
    walletDelaySeconds: config.walletDelaySeconds,
    databaseWaitSeconds: config.databaseWaitSeconds,
    databaseReplica:
      config.databaseReplica === undefined
        ? undefined
        : { ...config.databaseReplica, url: config.databaseReplica.url.reveal() },
    origin: config.origin,
    serviceDomain: config.serviceDomain,
    http: config.http,
    monitoring: config.monitoring,
    tracing: config.tracing,
    databaseUrl: config.databaseUrl.reveal(),
    roles: config.roles,
    chains: config.chains,
    fees: config.fees,
    ...openSigners(config, outside.clock),
    masterKeys: [bytesOf(masterKey), ...olderMasterKeys.map(bytesOf)],
    webhooks: config.webhooks,
    ...imageOptionsOf(config.images),
    smtp: config.smtp === undefined ? undefined : smtpSettingsOf(config.smtp),
    gasless: config.gasless,
    settlement: config.settlement,
    retention: config.retention,
    attestationUrl: config.attestationUrl,
    demoPayerKey: config.demoPayerKey?.reveal() as Hex | undefined,
    displayName: config.displayName,
    consoleUrl: config.consoleUrl,
    fundingUrl: config.fundingUrl,
    walletConnect: config.roles.has('web') ? walletConnectModule(config.walletConnect) : undefined,
    maxOpenSessions: config.maxOpenSessions,
    rateLimits: config.rateLimits,
    requestLogShare: config.requestLogShare,
  };
}

/** The image store's option of the service; empty where the service hosts no images. */
export function imageOptionsOf({ store, allowLoopback }: Config['images']): Pick<ServiceOptions, 'images'> {
  if (store === undefined) return {};
  if (store.kind === 'folder') return { images: { store, allowLoopback } };
  const { credentials, ...bucket } = store;
  if (credentials === undefined) return { images: { store: bucket, allowLoopback } };
  const { accessKeyId, secretAccessKey } = credentials;
  const revealed = { accessKeyId, secretAccessKey: secretAccessKey.reveal() };
  return { images: { store: { ...bucket, credentials: revealed }, allowLoopback } };
}

/** The mail server's settings with its password in clear. */
export function smtpSettingsOf({ login, ...settings }: SmtpConfig): SmtpSettings {
  if (login === undefined) return settings;
  return { ...settings, login: { user: login.user, password: login.password.reveal() } };
}

/** The 32 bytes of a configured master key. */
export function bytesOf(key: Secret): Uint8Array {
  return hexToBytes(`0x${key.reveal().replace(/^0x/, '')}`);
}
