/** Bytes of a body beyond which an event takes the short form of its data, if it has one. */
export const maxBodyBytes = 64 * 1024;

/** The digits of the largest sequence that the database can hold. */
const maxSequenceDigits = 19;

/** A body in two halves; the sequence, which only the database knows, goes between them. */
export interface BodyHalves {
  readonly head: string;
  readonly tail: string;
}

/**
 * The exact text of an event's body around its sequence. `dataJson` goes in byte for byte. Where the body would be over
 * 64 KiB, `shortDataJson` takes its place, and the body says `truncated`.
 */
export function eventBody(event: {
  readonly eventId: string;
  readonly type: string;
  readonly at: Date;
  readonly dataJson: string;
  readonly shortDataJson?: (() => string) | undefined;
}): BodyHalves {
  const { eventId, type, at, dataJson, shortDataJson } = event;
  const head = `{"id":"${eventId}","type":"${type}","apiVersion":"v1","timestamp":"${at.toISOString()}","sequence":`;
  const tail = `,"data":${dataJson}}`;
  const bytes = Buffer.byteLength(head) + maxSequenceDigits + Buffer.byteLength(tail);
  if (shortDataJson === undefined || bytes <= maxBodyBytes) return { head, tail };
  return { head, tail: `,"data":${shortDataJson()},"truncated":true}` };
}
