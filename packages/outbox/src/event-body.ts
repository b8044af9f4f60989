/** Larger bodies get the short form of their data, if there is one. */
export const maxBodyBytes = 64 * 1024;

/** The digits of the largest sequence that the database can hold. */
const maxSequenceDigits = 19;

/** The body before and after the sequence, which the database assigns. */
export interface SplitBody {
  readonly head: string;
  readonly tail: string;
}

/**
 * The exact text of an event's body around its sequence. `dataJson` is included byte for byte. If the body would exceed 64 KiB,
 * `shortDataJson` replaces it and the body says `truncated`.
 */
export function eventBody(event: {
  readonly eventId: string;
  readonly type: string;
  readonly at: Date;
  readonly dataJson: string;
  readonly shortDataJson?: (() => string) | undefined;
}): SplitBody {
  const { eventId, type, at, dataJson, shortDataJson } = event;
  const head = `{"id":"${eventId}","type":"${type}","apiVersion":"v1","timestamp":"${at.toISOString()}","sequence":`;
  const tail = `,"data":${dataJson}}`;
  const bytes = Buffer.byteLength(head) + maxSequenceDigits + Buffer.byteLength(tail);
  if (shortDataJson === undefined || bytes <= maxBodyBytes) return { head, tail };
  return { head, tail: `,"data":${shortDataJson()},"truncated":true}` };
}
