import type { Queryable } from '@florin/pg';
import { searchPiece } from './session-search.sql.ts';

/**
 * Looks for a text in the snapshots of a merchant's next sessions in order of creation, behind the one with the ordinal
 * `after`, `limit` at most. `last` is the last one's ordinal; undefined when there are no more.
 */
export async function searchSnapshots(
  queryable: Queryable,
  search: { merchantId: string; text: string; after: bigint; limit: number },
): Promise<{ isFound: boolean; last: bigint | undefined }> {
  const { merchantId, text, after, limit } = search;
  const [row] = await queryable.query(searchPiece, { merchantId, text, afterOrdinal: after, limit });
  return { isFound: row?.found ?? false, last: row?.last ?? undefined };
}
