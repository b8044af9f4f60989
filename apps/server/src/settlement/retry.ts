import type { PendingReason } from '@florin/protocol/session.ts';

const firstRetryMs = 5_000;
const longestRetryMs = 15 * 60_000;
/** Each attempt for a blocked recipient costs gas, and issuers change their block lists by hand. */
const longestBlockedRetryMs = 6 * 3_600_000;
const longestRereadMs = 6 * 3_600_000;

/** The pause before attempt `attempts + 1`: doubles from 5 s to 15 min, for a blocked recipient to 6 h. */
export function retryDelayMs(attempts: number, reason?: PendingReason): number {
  return doubled(attempts, reason === 'recipient_blocked' ? longestBlockedRetryMs : longestRetryMs);
}

/** The pause before blocks are read again for a missing event: doubles from 5 s to 6 h, as each reading is longer. */
export function rereadDelayMs(attempts: number): number {
  return doubled(attempts, longestRereadMs);
}

function doubled(attempts: number, longestMs: number): number {
  return Math.min(longestMs, firstRetryMs * 2 ** Math.min(attempts, 20));
}
