import { Refusal } from '@florin/protocol/error.ts';
import type { Hex } from '@florin/protocol/order.ts';
import type { Chains } from '#chains/chain.ts';
import type { Queryable } from '#db/database.ts';
import { orderAtReceiver } from './own-address.sql.ts';

/**
 * What of the installation stands at an address, in words: a contract, or the deposit address of an order; undefined:
 * nothing. Money that is sent there reaches nobody, or pays for somebody else.
 */
export async function findOwn(
  queryable: Queryable,
  chains: Chains,
  address: string,
): Promise<string | undefined> {
  const contract = chains.contractAt(address);
  if (contract !== undefined) return `${contract}, a contract of this installation`;
  const chainIds = chains.all.map(({ chainId }) => chainId);
  const rows = await queryable.query(orderAtReceiver, [chainIds, address.toLowerCase()]);
  return rows.length === 0 ? undefined : 'the deposit address of an order';
}

/** Refuses a payer who has signed nothing and to whom nothing could go back (100611). */
export async function assertNotOwn(queryable: Queryable, chains: Chains, payer: Hex): Promise<void> {
  const own = await findOwn(queryable, chains, payer);
  if (own !== undefined)
    throw new Refusal('payer_not_served', { param: 'payer', detail: `${payer} is ${own}` });
}
