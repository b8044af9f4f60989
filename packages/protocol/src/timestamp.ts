/** Formats a time for the merchant API, `YYYY-MM-DD HH:MM:SS` in UTC. */
export function formatTimestamp(time: Date): string {
  return time.toISOString().slice(0, 19).replace('T', ' ');
}

/** Such a text in ISO 8601, as `2026-11-24T10:55:50Z`. */
export function isoTimestamp(timestamp: string): string {
  return `${timestamp.replace(' ', 'T')}Z`;
}

/** The time of such a text; an invalid Date for a day that no calendar has. */
export function parseTimestamp(timestamp: string): Date {
  return new Date(isoTimestamp(timestamp));
}

/** ISO 8601 in UTC with whole seconds, as `2026-11-24T10:55:50Z`: the form of times in files for other programs. */
export function formatIsoTime(time: Date): string {
  return `${time.toISOString().slice(0, 19)}Z`;
}
