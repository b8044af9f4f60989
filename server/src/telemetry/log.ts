import pino from 'pino';

/** Structured logging. Field values must never be keys, signatures, e-mail addresses or request bodies. */
export interface Log {
  info(event: string, fields?: Record<string, unknown>): void;
  warn(event: string, fields?: Record<string, unknown>): void;
  /** For bugs and outages; the error is logged in full, answered to nobody. */
  error(event: string, error: unknown, fields?: Record<string, unknown>): void;
}

/** A log of JSON lines on standard output. */
export function jsonLog(level: 'debug' | 'info' | 'warn' | 'error' | 'silent' = 'info'): Log {
  const logger = pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime });
  return {
    info: (event, fields = {}) => logger.info(fields, event),
    warn: (event, fields = {}) => logger.warn(fields, event),
    error: (event, error, fields = {}) => logger.error({ ...fields, err: error }, event),
  };
}

/** Says nothing; for tests of pure operations. */
export const silentLog: Log = { info: () => {}, warn: () => {}, error: () => {} };
