import type { Secret } from '#outside/secret.ts';
import { ConfigError, type Fields, type SecretSource } from './field.ts';

/** The database that the service uses. */
export interface DatabaseConfig {
  readonly databaseUrl: Secret;
  /** How long requests wait at the beginning of an outage of the database, in seconds; 0: they fail at once. */
  readonly databaseWaitSeconds: number;
}

export function databaseOf(fields: Fields, secrets: SecretSource): DatabaseConfig {
  const databaseUrl = secrets.read('DATABASE_URL', 'databaseUrl', /^postgres(ql)?:\/\//, 'a postgres:// URL');
  refuseSeveralHosts(databaseUrl.reveal());
  const databaseWaitSeconds = fields.integer('databaseWaitSeconds', { least: 0, most: 60, fallback: 10 });
  return { databaseUrl, databaseWaitSeconds };
}

const severalHosts = /^[^:]+:\/\/[^/?]*,|[?&]host=[^&]*(,|%2c)|[?&]target_session_attrs=/i;

/**
 * A list of hosts would need a try at each to find the primary, with every new connection, and would keep connections to
 * a server that has lost that role. A proxy that asks the cluster's manager does neither.
 */
function refuseSeveralHosts(url: string): void {
  if (!severalHosts.test(url)) return;
  throw new ConfigError(
    'databaseUrl names several hosts or target_session_attrs: give one address that leads to the primary, such as that of HAProxy (section 4 of the runbook production.md)',
  );
}
