/** The planned end of an operation. Times in Unix seconds. */
export interface Deprecation {
  /** When clients should start to use the replacement. */
  readonly sinceSeconds: number;
  /** When the operation may be removed: at least a year after `sinceSeconds`. */
  readonly endsAtSeconds: number;
  /** The replacement, a sentence for documents. */
  readonly instead: string;
}

/** The time that clients have to migrate: the wire contract promises twelve months. */
export const leastOverlapSeconds = 366 * 86_400;

/**
 * The headers of every answer of a deprecated operation: `Deprecation` (RFC 9745, a date of structured fields) and
 * `Sunset` (RFC 8594, an HTTP date). Throws a RangeError when the end comes too soon.
 */
export function deprecationHeaders({ sinceSeconds, endsAtSeconds }: Deprecation): Record<string, string> {
  if (!Number.isSafeInteger(sinceSeconds) || !Number.isSafeInteger(endsAtSeconds))
    throw new RangeError('an operation is deprecated, and ends, at whole seconds');
  if (endsAtSeconds - sinceSeconds < leastOverlapSeconds)
    throw new RangeError('an operation stays for at least twelve months after it is deprecated');
  return { deprecation: `@${sinceSeconds}`, sunset: new Date(endsAtSeconds * 1000).toUTCString() };
}

/** The same as a sentence for documents. */
export function deprecationText({ sinceSeconds, endsAtSeconds, instead }: Deprecation): string {
  const day = (seconds: number) => new Date(seconds * 1000).toISOString().slice(0, 10);
  return `Deprecated since ${day(sinceSeconds)}, and gone after ${day(endsAtSeconds)}. ${instead}`;
}
