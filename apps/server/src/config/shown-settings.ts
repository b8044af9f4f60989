import type { ServiceSettings } from '#service/options.ts';
import type { ImagesConfig } from './images.ts';
import type { Setting } from './setting.ts';
import { type Settings, settings } from './settings.ts';
import { addressOfKey, type Signers } from './signer.ts';
import type { SmtpConfig } from './smtp.ts';

/** What of the configuration differs from the file, or is no value of it. */
type InForce = Signers &
  Pick<ServiceSettings, 'origin' | 'displayName' | 'walletDelaySeconds' | 'http' | 'monitoring'> &
  Pick<ServiceSettings, 'roles' | 'chains' | 'rateLimits' | 'requestLogShare'> & {
    readonly masterKeys: readonly unknown[];
    readonly images: ImagesConfig;
    readonly smtp: SmtpConfig | undefined;
  };

/**
 * The configuration as it is in force, for the operator's screens, by the names of the settings. Keys appear as addresses, URLs
 * that may hold a key as hosts, databases and buckets not at all.
 */
export function shownSettings(given: Settings, config: InForce): Readonly<Record<string, unknown>> {
  const { chains, displayName = new URL(config.origin).host, walletDelaySeconds } = config;
  const inForce = {
    ...{ ...given, displayName, walletDelaySeconds, http: config.http, monitoring: config.monitoring },
    roles: [...config.roles],
    chains: given.chains.map((chain, index) => ({ ...chain, finality: chains.all[index]?.finality })),
    smtp: given.smtp && { ...given.smtp, port: config.smtp?.port },
  };
  return {
    ...(shownOf(settings as Setting, inForce) as Readonly<Record<string, unknown>>),
    signer: {
      order: addressOfKey(config.orderKey),
      settler: addressOfKey(config.settlerKey),
      otherSettlers: config.otherSettlerKeys.map(addressOfKey),
    },
    masterKeys: config.masterKeys.length,
    images: { store: config.images.store?.kind ?? 'off', allowLoopback: config.images.allowLoopback },
    requestLogShare: config.requestLogShare,
    ...(config.rateLimits === undefined ? { rateLimits: 'off' } : {}),
  };
}

function shownOf(setting: Setting, value: unknown): unknown {
  const { shown, items, properties, absent = 'none' } = setting;
  if (value === undefined) return properties === undefined ? absent.replaceAll('`', '') : 'off';
  if (shown === 'host') return new URL(String(value)).host;
  if (items !== undefined) return (value as readonly unknown[]).map((item) => shownOf(items, item));
  if (properties === undefined) return value;
  const members = Object.entries(properties).filter(
    ([, member]) => member.shown !== 'never' && member.isLocal !== true,
  );
  return Object.fromEntries(
    members.map(([name, member]) => [name, shownOf(member, (value as Record<string, unknown>)[name])]),
  );
}
