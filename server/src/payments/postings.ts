import { orderKinds } from '@florin/protocol/order.ts';
import type { Posting } from '#ledger/entry.ts';
import type { StoredOrder } from '#sessions/stored-session.ts';

/**
 * How each on-chain fact is booked. Assets (gateway, vault) are debits; what is owed (merchant, fees) and the
 * operator's own money (float) are credits. The sum over every entry is zero per asset. Nothing here asks the
 * configuration for a token: what a chain shows is booked even after the token has left it.
 */

function gateway(chainName: string): string {
  return `gateway:${chainName}`;
}

function vault(chainName: string): string {
  return `vault:${chainName}`;
}

function merchant(order: StoredOrder): string {
  return `merchant:${order.order.channelId}`;
}

/** A payment became final: the gateway holds the total, owed to the merchant and to the fees. */
export function paymentPostings(order: StoredOrder, chainName: string): Posting[] {
  const { total, fee } = order.order;
  const asset = order.tokenId;
  if (order.order.orderType === orderKinds.direct) return [];
  return [
    { account: gateway(chainName), asset, amount: total },
    { account: merchant(order), asset, amount: -(total - fee) },
    { account: 'fees', asset, amount: -fee },
  ];
}

/** The gateway let go of the net amount: to the merchant, or into the vault's float for a payout elsewhere. */
export function settlementPostings(order: StoredOrder, chainName: string): Posting[] {
  const { total, fee, orderType } = order.order;
  const net = total - fee;
  const asset = order.tokenId;
  const released: Posting[] = [
    { account: merchant(order), asset, amount: net },
    { account: gateway(chainName), asset, amount: -net },
  ];
  if (orderType !== orderKinds.vaultPayout) return released;
  return [
    ...released,
    { account: vault(chainName), asset, amount: net },
    { account: 'float', asset, amount: -net },
  ];
}

/** The vault of the target chain paid the merchant out of the operator's float: `amount` in units of the settlement token. */
export function payoutPostings(paid: { chainName: string; asset: string; amount: bigint }): Posting[] {
  const { chainName, asset, amount } = paid;
  return [
    { account: 'float', asset, amount },
    { account: vault(chainName), asset, amount: -amount },
  ];
}

/** The payment went back to the payer in full, by refund or reclaim. */
export function returnPostings(order: StoredOrder, chainName: string): Posting[] {
  return paymentPostings(order, chainName).map((posting) => ({ ...posting, amount: -posting.amount }));
}
