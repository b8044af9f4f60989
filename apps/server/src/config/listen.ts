import { isIP } from 'node:net';
import { isAbsolute } from 'node:path';
import type { ServiceSettings } from '#service/options.ts';
import type { TracingSettings } from '#telemetry/traces.ts';
import { ConfigError, type Environment, type Fields } from './field.ts';

/** Reads `http`. */
export function httpOf(fields: Fields, environment: Environment): ServiceSettings['http'] {
  const port = fields.integer('port', { least: 0, most: 65_535, fallback: 4000 });
  const host = fields.text('host', '127.0.0.1');
  const trustedProxies = fields.optional('trustedProxies', (name) => fields.list(name).map(proxyOf)) ?? [];
  const given = environment['FLORIN_PORT'];
  return {
    host: environment['FLORIN_HOST'] ?? host,
    port: given === undefined ? port : portOf(given),
    trustedProxies,
  };
}

/** Reads `monitoring`. Processes of several roles share one file, so the environment can give each a port of its own. */
export function monitoringOf(fields: Fields, environment: Environment): ServiceSettings['monitoring'] {
  const given = environment['FLORIN_MONITORING_PORT'];
  const givenHost = environment['FLORIN_MONITORING_HOST'];
  if (!fields.has('monitoring') && given === undefined) return undefined;
  return fields.section('monitoring', (monitoring) => {
    const port = monitoring.integer('port', { least: 0, most: 65_535, fallback: 9464 });
    const host = monitoring.text('host', '127.0.0.1');
    return {
      host: givenHost ?? host,
      port: given === undefined ? port : portOf(given, 'FLORIN_MONITORING_PORT'),
      backups: monitoring.optional('backups', (name) => backupsOf(monitoring, name)),
    };
  });
}

function backupsOf(monitoring: Fields, name: string): string {
  const folder = monitoring.text(name);
  if (!isAbsolute(folder)) throw new ConfigError(`monitoring.backups is ${folder}: give an absolute path`);
  return folder;
}

/** Reads `tracing`. */
export function tracingOf(fields: Fields): TracingSettings {
  const url = fields.text('url');
  if (!/^https?:\/\/[^/?#@]+\/[^?#]*$/.test(url))
    throw new ConfigError(
      'tracing.url must be the address of a collector with its path, without a name or a password: http://127.0.0.1:4318/v1/traces',
    );
  const sharePpm = fields.integer('sharePpm', { least: 1, most: 1_000_000, fallback: 1_000_000 });
  return { url, share: sharePpm / 1_000_000 };
}

/** An address or network of a trusted proxy, whose X-Forwarded-For counts. */
function proxyOf(value: unknown, index: number): string {
  if (typeof value === 'string' && isIP(value.split('/', 1)[0] ?? '') !== 0) return value;
  throw new ConfigError(
    `http.trustedProxies[${index}] must be an IP address or a network such as 10.0.0.0/8`,
  );
}

function portOf(text: string, name = 'FLORIN_PORT'): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535)
    throw new ConfigError(`${name} is ${text}: give a port from 0 to 65535`);
  return port;
}
