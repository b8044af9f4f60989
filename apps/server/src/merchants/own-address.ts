import type { Queryable } from '@florin/pg';
import { Refusal } from '@florin/protocol/error.ts';
import type { Hex } from '@florin/protocol/order.ts';
import { type Chains, ownerlessAt } from '#chains/chain.ts';
import { orderAtReceiver } from './own-address.sql.ts';

/**
 * The reason why an address must not be paid: it is the zero address, a contract of the installation, or the deposit
 * address of an order. Undefined for all others. Money sent there would be lost, or would pay another payer's order.
 */
export async function findOwn(
  queryable: Queryable,
  chains: Chains,
  address: string,
): Promise<string | undefined> {
  const ownerless = ownerlessAt(chains, address);
  if (ownerless !== undefined) return ownerless;
  const chainIds = chains.all.map(({ chainId }) => chainId);
  const rows = await queryable.query(orderAtReceiver, { chainIds, receiver: address.toLowerCase() });
  return rows.length === 0 ? undefined : 'the deposit address of an order';
}

/** Refuses a payer at such an address (100611): the address cannot sign, and a refund to it would be lost. */
export async function assertNotOwn(queryable: Queryable, chains: Chains, payer: Hex): Promise<void> {
  const own = await findOwn(queryable, chains, payer);
  if (own !== undefined)
    throw new Refusal('payer_not_served', { param: 'payer', detail: `${payer} is ${own}` });
}
