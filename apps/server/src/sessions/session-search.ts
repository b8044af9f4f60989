import type { Queryable } from '@florin/pg';
import { searchPiece } from './session-search.sql.ts';

/**
 * Searches a merchant's next `limit` sessions after the ordinal `after` for a text in their snapshots. `last` is the last
 * session's ordinal; undefined when there are no more.
 */
export async function searchSnapshots(
  queryable: Queryable,
  search: { merchantId: string; text: string; after: bigint; limit: number },
): Promise<{ isFound: boolean; last: bigint | undefined }> {
  const { merchantId, text, after, limit } = search;
  const [row] = await queryable.query(searchPiece, { merchantId, text, afterOrdinal: after, limit });
  return { isFound: row?.found ?? false, last: row?.last ?? undefined };
}
