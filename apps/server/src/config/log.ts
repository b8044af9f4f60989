import { ConfigError, type Environment } from './setting.ts';

const levels = ['debug', 'info', 'warn', 'error', 'silent'] as const;

/** What a process writes to its log. */
export interface LogConfig {
  readonly logLevel: (typeof levels)[number];
  /** The share of answered requests that get a line, from 0 to 1; failures of the service always do. */
  readonly requestLogShare: number;
}

/** Reads FLORIN_LOG_LEVEL and FLORIN_LOG_REQUESTS: processes that share a file may differ. */
export function logOf(environment: Environment): LogConfig {
  const level = environment['FLORIN_LOG_LEVEL'] ?? 'info';
  const logLevel = levels.find((known) => known === level);
  if (logLevel === undefined)
    throw new ConfigError(`FLORIN_LOG_LEVEL is ${level}: the levels are ${levels.join(', ')}`);
  const share = environment['FLORIN_LOG_REQUESTS'] ?? '1';
  if (!/^(0(\.\d{1,6})?|1)$/.test(share))
    throw new ConfigError(`FLORIN_LOG_REQUESTS is ${share}: give a share from 0 to 1, such as 0.01`);
  return { logLevel, requestLogShare: Number(share) };
}
