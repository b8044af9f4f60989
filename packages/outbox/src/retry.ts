import type { Random } from './context.ts';

/** When a delivery is retried, and when a webhook has failed for too long. All times are in milliseconds. */
export interface RetrySettings {
  /** The wait before each attempt, from the first one on. */
  readonly delaysMs: readonly number[];
  /** Each wait becomes longer or shorter by up to this share. */
  readonly jitter: number;
  /** The longest Retry-After that is respected. */
  readonly retryAfterLimitMs: number;
  /** A webhook pauses after this many failed attempts in a row that span at least this time. */
  readonly pauseAfterFailures: number;
  readonly pauseAfterMs: number;
}

const secondMs = 1000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;

/** Ten attempts over 75.6 hours. */
export const defaultRetrySettings: RetrySettings = {
  delaysMs: [
    0,
    5 * secondMs,
    5 * minuteMs,
    30 * minuteMs,
    2 * hourMs,
    5 * hourMs,
    10 * hourMs,
    14 * hourMs,
    20 * hourMs,
    24 * hourMs,
  ],
  jitter: 0.1,
  retryAfterLimitMs: 24 * hourMs,
  pauseAfterFailures: 10,
  pauseAfterMs: 72 * hourMs,
};

/**
 * The time of the next attempt after `attemptsMade` failures, the last of which ended at `endedAt`. Undefined after the last
 * attempt. A Retry-After that is longer than the scheduled wait replaces it.
 */
export function nextAttemptAt(
  settings: RetrySettings,
  random: Random,
  failure: { readonly attemptsMade: number; readonly endedAt: Date; readonly retryAfter: string | undefined },
): Date | undefined {
  const delayMs = settings.delaysMs[failure.attemptsMade];
  if (delayMs === undefined) return undefined;
  const jitteredMs = delayMs * (1 + settings.jitter * (2 * random.fraction() - 1));
  const askedMs = Math.min(retryAfterMs(failure.retryAfter, failure.endedAt), settings.retryAfterLimitMs);
  return new Date(failure.endedAt.getTime() + Math.round(Math.max(jitteredMs, askedMs)));
}

/** Reads Retry-After (RFC 9110 section 10.2.3), seconds or a date; 0 when absent or unreadable. */
function retryAfterMs(header: string | undefined, now: Date): number {
  if (header === undefined) return 0;
  const text = header.trim();
  if (/^\d{1,9}$/.test(text)) return Number(text) * secondMs;
  const date = Date.parse(text);
  return Number.isNaN(date) ? 0 : Math.max(0, date - now.getTime());
}
