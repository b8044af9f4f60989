import { FlorinError } from './error.ts';

/**
 * The moment of a time that the service gave: a timestamp without a zone, which is UTC, the time of an event, or Unix seconds.
 * Undefined for one that has not come, which is `''` or `null`.
 *
 * @example toDate(session.createAt)
 */
export function toDate(time: string | number | null): Date | undefined {
  if (time === null || time === '') return undefined;
  // `new Date` would read a text without a zone as the program's own time.
  const text = typeof time === 'string' ? time.replace(/^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)$/, '$1T$2Z') : '';
  const date =
    typeof time === 'number' ? new Date(time * 1_000) : new Date(/Z$/.test(text) ? text : Number.NaN);
  if (Number.isNaN(date.getTime()))
    throw new FlorinError(
      'argument_invalid',
      `toDate() takes a time of the service, not ${JSON.stringify(time)}`,
    );
  return date;
}
