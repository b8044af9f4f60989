import type { Secret } from '#outside/secret.ts';
import type { SecretSource } from './secret-source.ts';
import { ConfigError } from './setting.ts';
import type { Settings } from './settings.ts';

/** The database that the service uses. */
export interface DatabaseConfig {
  readonly databaseUrl: Secret;
  /** How long requests wait at the beginning of an outage of the database, in seconds; 0: they fail at once. */
  readonly databaseWaitSeconds: number;
  /** A standby that answers lists, search and sums while its data is no older than this. */
  readonly databaseReplica: { readonly url: Secret; readonly maxLagSeconds: number } | undefined;
}

export function databaseOf(settings: Settings, secrets: SecretSource): DatabaseConfig {
  const databaseUrl = secrets.read('DATABASE_URL', 'databaseUrl', postgresUrl, 'a postgres:// URL');
  refuseSeveralHosts(databaseUrl.reveal());
  const { databaseWaitSeconds, databaseReplicaMaxLagSeconds: maxLagSeconds } = settings;
  const url = replicaOf(secrets, databaseUrl);
  return { databaseUrl, databaseWaitSeconds, databaseReplica: url && { url, maxLagSeconds } };
}

function replicaOf(secrets: SecretSource, primary: Secret): Secret | undefined {
  const url = secrets.optional(
    'DATABASE_REPLICA_URL',
    'databaseReplicaUrl',
    postgresUrl,
    'a postgres:// URL',
  );
  if (url === undefined) return undefined;
  // Policies hold for roles: with another one, a replica could show a merchant the rows of others.
  const [own, wanted] = [url, primary].map((each) => new URL(each.reveal()));
  if (own?.username !== wanted?.username || own?.pathname !== wanted?.pathname)
    throw new ConfigError('databaseReplicaUrl must name the role and the database of databaseUrl');
  return url;
}

const postgresUrl = /^postgres(ql)?:\/\//;

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
