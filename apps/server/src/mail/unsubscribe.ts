import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Database } from '@florin/pg';
import { declineNotification } from '#members/notification.ts';

/** A member of a merchant. */
export interface SummaryReader {
  readonly merchantId: string;
  readonly userId: string;
}

/**
 * Links that end the weekly summary of one member without signing in (RFC 8058). They never expire, and work as long as the
 * service has the master key that made them.
 */
export interface UnsubscribeLinks {
  urlOf(reader: SummaryReader): string;
  /** Whether a link with this code is ours. */
  isGenuine(reader: SummaryReader, code: string): boolean;
}

export const unsubscribePath = '/mail/unsubscribe';
/** 128 bits. */
const codeBytes = 16;

/**
 * @param origin The installation's public origin: providers of mailboxes call the links, too.
 * @param masterKeys The first makes links; all check them.
 */
export function unsubscribeLinks(
  origin: string,
  masterKeys: readonly [Uint8Array, ...Uint8Array[]],
): UnsubscribeLinks {
  // Keys of their own: the master keys themselves have another use.
  const keys = masterKeys.map((key) => createHmac('sha256', key).update('unsubscribe links').digest());
  const codeOf = (key: Uint8Array, { merchantId, userId }: SummaryReader) =>
    createHmac('sha256', key)
      .update(JSON.stringify(['weekly_summary', merchantId, userId]))
      .digest()
      .subarray(0, codeBytes);
  const [current] = keys;
  if (current === undefined) throw new RangeError('links need a master key');
  return {
    urlOf(reader) {
      const { merchantId, userId } = reader;
      const code = codeOf(current, reader).toString('base64url');
      return `${origin}${unsubscribePath}/${merchantId}/${userId}/${code}`;
    },
    isGenuine(reader, code) {
      const given = Buffer.from(code, 'base64url');
      return (
        given.length === codeBytes &&
        keys.map((key) => timingSafeEqual(codeOf(key, reader), given)).includes(true)
      );
    },
  };
}

/** Ends the weekly summary of a member. Nothing happens when it has ended already. */
export async function endWeeklySummary(db: Database, reader: SummaryReader): Promise<void> {
  await db.transaction((transaction) =>
    declineNotification(transaction, { ...reader, kind: 'weekly_summary' }),
  );
}
