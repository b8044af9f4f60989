import { toTokenAmount } from '@florin/protocol/money.ts';
import { orderKinds } from '@florin/protocol/order.ts';
import type { Token } from '@florin/protocol/token.ts';
import type { Posting } from '#ledger/entry.ts';
import type { StoredOrder } from '#sessions/stored-session.ts';

/**
 * How each on-chain fact is booked. Assets (gateway, vault) are debits; what is owed (merchant, fees) and the
 * operator's own money (float) are credits. The sum over every entry is zero per asset.
 */

function gateway(token: Token): string {
  return `gateway:${token.chainName}`;
}

function vault(token: Token): string {
  return `vault:${token.chainName}`;
}

function merchant(order: StoredOrder): string {
  return `merchant:${order.order.channelId}`;
}

/** A payment became final: the gateway holds the total, owed to the merchant and to the fees. */
export function paymentPostings(order: StoredOrder, token: Token): Posting[] {
  const { total, fee } = order.order;
  const asset = token.tokenId;
  if (order.order.orderType === orderKinds.direct) return [];
  return [
    { account: gateway(token), asset, amount: total },
    { account: merchant(order), asset, amount: -(total - fee) },
    { account: 'fees', asset, amount: -fee },
  ];
}

/** The gateway let go of the net amount: to the merchant, or into the vault's float for a payout elsewhere. */
export function settlementPostings(order: StoredOrder, token: Token): Posting[] {
  const { total, fee, orderType } = order.order;
  const net = total - fee;
  const asset = token.tokenId;
  const released: Posting[] = [
    { account: merchant(order), asset, amount: net },
    { account: gateway(token), asset, amount: -net },
  ];
  if (orderType !== orderKinds.vaultPayout) return released;
  return [
    ...released,
    { account: vault(token), asset, amount: net },
    { account: 'float', asset, amount: -net },
  ];
}

/** The vault of the target chain paid the merchant out of the operator's float. */
export function payoutPostings(order: StoredOrder, settlementToken: Token): Posting[] {
  const amount = toTokenAmount(order.amounts.netValue, settlementToken.decimals);
  const asset = settlementToken.tokenId;
  return [
    { account: 'float', asset, amount },
    { account: vault(settlementToken), asset, amount: -amount },
  ];
}

/** The payment went back to the payer in full, by refund or reclaim. */
export function returnPostings(order: StoredOrder, token: Token): Posting[] {
  return paymentPostings(order, token).map((posting) => ({ ...posting, amount: -posting.amount }));
}
