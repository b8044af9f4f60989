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
import type { ServiceSettings } from '#service/options.ts';
import type { Log } from '#telemetry/log.ts';

/** Builds the service's settings from the configuration and the outside world. */
export function serviceOptionsOf(
  config: Config,
  outside: { clock: Clock; random: Random; log: Log },
): ServiceSettings {
  const [masterKey, ...olderMasterKeys] = config.masterKeys;
  return {
    ...config,
    ...outside,
    ...openSigners(config, outside.clock),
    databaseUrl: config.databaseUrl.reveal(),
    databaseReplica:
      config.databaseReplica === undefined
        ? undefined
        : { ...config.databaseReplica, url: config.databaseReplica.url.reveal() },
    masterKeys: [bytesOf(masterKey), ...olderMasterKeys.map(bytesOf)],
    images: imageOptionsOf(config),
    smtp: config.smtp === undefined ? undefined : smtpSettingsOf(config.smtp),
    demoPayerKey: config.demoPayerKey?.reveal() as Hex | undefined,
    walletConnect: config.roles.has('web') ? walletConnectModule(config.walletConnect) : undefined,
  };
}

/** The store of images with its secret in clear; undefined where the service hosts no images. */
export function imageOptionsOf({
  images: { store, allowLoopback },
}: Pick<Config, 'images'>): ServiceSettings['images'] {
  if (store === undefined) return undefined;
  if (store.kind === 'folder') return { store, allowLoopback };
  const { credentials, ...bucket } = store;
  if (credentials === undefined) return { store: bucket, allowLoopback };
  const { accessKeyId, secretAccessKey } = credentials;
  const revealed = { accessKeyId, secretAccessKey: secretAccessKey.reveal() };
  return { store: { ...bucket, credentials: revealed }, allowLoopback };
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
