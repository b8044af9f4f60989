import type { Queryable } from '@florin/pg';
import { allLinksSettlingIn, linksSettlingIn } from './settling-links.sql.ts';

/** A merchant's active links that settle in one of the tokens: how many, and the oldest 20 of them. */
export async function findLinksSettlingIn(
  queryable: Queryable,
  request: { readonly merchantId: string; readonly tokenIds: string[] },
): Promise<{ count: number; ids: string[] }> {
  if (request.tokenIds.length === 0) return { count: 0, ids: [] };
  const [row] = await queryable.query(linksSettlingIn, request);
  return { count: Number(row?.total ?? 0n), ids: row?.ids ?? [] };
}

/** How many active links of how many merchants settle in one of the tokens. Needs the scope of the system. */
export async function countLinksSettlingIn(
  queryable: Queryable,
  tokenIds: string[],
): Promise<{ links: number; merchants: number }> {
  const [row] = await queryable.query(allLinksSettlingIn, { tokenIds });
  return { links: Number(row?.links ?? 0n), merchants: Number(row?.merchants ?? 0n) };
}
