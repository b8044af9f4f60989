import type { Hex } from '@florin/protocol/order.ts';
import { hexToBytes } from 'viem';
import type { Clock } from '#outside/clock.ts';
import type { Random } from '#outside/random.ts';
import type { Secret } from '#outside/secret.ts';
import type { Log } from '#telemetry/log.ts';
import type { Config } from './config.ts';
import type { ServiceOptions } from './service.ts';

/** Joins the configuration with the outside world into what the service is started with. */
export function serviceOptionsOf(
  config: Config,
  outside: { clock: Clock; random: Random; log: Log },
): ServiceOptions {
  const [masterKey, ...olderMasterKeys] = config.masterKeys;
  return {
    ...outside,
    origin: config.origin,
    serviceDomain: config.serviceDomain,
    http: config.http,
    databaseUrl: config.databaseUrl.reveal(),
    roles: config.roles,
    chains: config.chains,
    fees: config.fees,
    orderKey: config.orderKey.reveal() as Hex,
    settlerKey: config.settlerKey.reveal() as Hex,
    masterKeys: [bytesOf(masterKey), ...olderMasterKeys.map(bytesOf)],
    webhooks: config.webhooks,
    settlement: config.settlement,
    maxOpenSessions: config.maxOpenSessions,
    rateLimits: config.rateLimits,
  };
}

function bytesOf(key: Secret): Uint8Array {
  return hexToBytes(`0x${key.reveal().replace(/^0x/, '')}`);
}
