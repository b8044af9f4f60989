import type { ServiceSettings } from '#service/options.ts';
import { ConfigError, type Environment, readSetting } from './setting.ts';
import { monitoring, type Settings } from './settings.ts';

/** Where the service listens. */
export function httpOf(http: Settings['http'], environment: Environment): ServiceSettings['http'] {
  return {
    host: environment['FLORIN_HOST'] ?? http.host,
    port: portOf(environment, 'FLORIN_PORT') ?? http.port,
    trustedProxies: http.trustedProxies ?? [],
  };
}

/** Where it tells its health. Processes of several roles share one file, so the environment can give each a port of its own. */
export function monitoringOf(
  given: Settings['monitoring'],
  environment: Environment,
): ServiceSettings['monitoring'] {
  const port = portOf(environment, 'FLORIN_MONITORING_PORT');
  if (given === undefined && port === undefined) return undefined;
  const own = given ?? readSetting(monitoring, {});
  const host = environment['FLORIN_MONITORING_HOST'] ?? own.host;
  return { host, port: port ?? own.port, backups: own.backups };
}

function portOf(environment: Environment, name: string): number | undefined {
  const text = environment[name];
  if (text === undefined) return undefined;
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535)
    throw new ConfigError(`${name} is ${text}: give a port from 0 to 65535`);
  return port;
}
