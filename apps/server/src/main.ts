import { hostname } from 'node:os';
import { migrate, UnfitDatabase } from '@florin/pg';
import { nativeFailure, secp256k1 } from '@florin/signing';
import { ConfigError, readConfig } from '#config/config.ts';
import { schema } from '#db/schema.ts';
import { ScopeError } from '#db/scope-check.ts';
import { systemRandom } from '#outside/random.ts';
import { version } from '#outside/version.ts';
import { startService } from '#service/service.ts';
import { verifyChains } from '#start/chain-verification.ts';
import { checkDatabase } from '#start/check.ts';
import { serviceOptionsOf } from '#start/options.ts';
import { serviceClock } from '#start/service-clock.ts';
import { jsonLog } from '#telemetry/log.ts';

/** The service as a process: reads its configuration, migrates, checks the chains, runs until it is told to stop. */
async function main(): Promise<void> {
  const config = readConfig(process.env);
  const log = jsonLog(config.logLevel, {
    roles: [...config.roles].join(' '),
    instance: `${hostname()}/${process.pid}`,
    version,
  });
  const { implementation } = secp256k1;
  if (nativeFailure === undefined) log.info('secp256k1.chosen', { implementation });
  else log.warn('secp256k1.chosen', { implementation, reason: String(nativeFailure) });
  const onWait = (seconds: number) => log.warn('database.migration_waiting', { seconds });
  const { applied } = await migrate(config.databaseUrl.reveal(), schema, { onWait });
  if (applied.length > 0) log.info('database.migrated', { applied });
  await checkDatabase(config.databaseUrl.reveal());
  const clock = serviceClock(config, process);
  const options = serviceOptionsOf(config, { clock, random: systemRandom, log });
  const verification = await verifyChains({ ...options, isLocal: config.environment === 'local' });
  const service = await startService({ ...options, verification });
  log.info('service.started', { address: service.address ?? '', roles: [...config.roles] });

  const stopped = Promise.withResolvers<string>();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => stopped.resolve(signal));
  // Started with a channel to a parent (the local world), it ends when the parent is gone.
  process.once('disconnect', () => stopped.resolve('disconnect'));
  const reason = await Promise.race([stopped.promise, service.failed]);
  log.info('service.stopping', { reason });
  await service.stop();
}

try {
  await main();
  process.exit(0);
} catch (error) {
  if (error instanceof ConfigError || error instanceof ScopeError || error instanceof UnfitDatabase)
    process.stderr.write(`${error.message}\n`);
  else jsonLog('error').error('service.failed', error);
  process.exit(1);
}
