import type { Queryable } from '@florin/pg';
import { openSettlingIn } from './open-sessions.sql.ts';

/** How many unpaid sessions of all merchants settle in one of the tokens. Needs the scope of the system. */
export async function countOpenSettlingIn(queryable: Queryable, tokenIds: string[]): Promise<number> {
  const [row] = await queryable.query(openSettlingIn, { tokenIds });
  return Number(row?.sessions ?? 0n);
}
