import { orderKinds } from '@florin/protocol/order.ts';
import type { Posting } from '#ledger/entry.ts';
import type { StoredOrder } from '#orders/stored-order.ts';

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

/**
 * A payment became final: the gateway holds the total, owed to the merchant and to the fees, which are earned by the
 * settlement. A direct payment never stays anywhere of ours.
 */
export function paymentPostings(order: StoredOrder, chainName: string): Posting[] {
  const { total, fee } = order.order;
  const asset = order.tokenId;
  if (order.order.orderType === orderKinds.direct) {
    return passedOn({ chainName, asset, from: 'payers', to: 'recipients', amount: total });
  }
  return [
    { account: gateway(chainName), asset, amount: total },
    { account: merchant(order), asset, amount: -(total - fee) },
    { account: 'fees:due', asset, amount: -fee },
  ];
}

/** Burnt here, and not minted on the merchant's chain yet. */
function bridge(chainName: string): string {
  return `bridge:${chainName}`;
}

/**
 * The gateway let go of the net amount: to the merchant, into the vault's float for a payout elsewhere, or by a burn that
 * is still owed to the merchant until it is minted. Whether a vault got it is what the event says, and not the order: a
 * merchant whose address is a vault gives the money to the float.
 */
export function settlementPostings(
  order: StoredOrder,
  { chainName, isIntoVault }: { readonly chainName: string; readonly isIntoVault: boolean },
): Posting[] {
  const { total, fee, orderType } = order.order;
  const net = total - fee;
  const asset = order.tokenId;
  const earned = earnedPostings(asset, fee);
  if (orderType === orderKinds.cctp) {
    return [
      ...earned,
      { account: bridge(chainName), asset, amount: net },
      { account: gateway(chainName), asset, amount: -net },
    ];
  }
  const released: Posting[] = [
    ...earned,
    { account: merchant(order), asset, amount: net },
    { account: gateway(chainName), asset, amount: -net },
  ];
  return isIntoVault ? [...released, ...floatPostings(chainName, asset, net)] : released;
}

/** The vault of the target chain paid the merchant out of the operator's float: `amount` in units of the settlement token. */
export function payoutPostings(paid: { chainName: string; asset: string; amount: bigint }): Posting[] {
  const { chainName, asset, amount } = paid;
  return [
    { account: 'float', asset, amount },
    { account: vault(chainName), asset, amount: -amount },
  ];
}

/** What was burnt on the order's own chain (`chainName`) has been minted to the merchant on the other. */
export function mintPostings(order: StoredOrder, chainName: string): Posting[] {
  const net = order.order.total - order.order.fee;
  return [
    { account: merchant(order), asset: order.tokenId, amount: net },
    { account: bridge(chainName), asset: order.tokenId, amount: -net },
  ];
}

/** The payment went back to the payer in full, by refund or reclaim. */
export function returnPostings(order: StoredOrder, chainName: string): Posting[] {
  return paymentPostings(order, chainName).map((posting) => ({ ...posting, amount: -posting.amount }));
}

/** The fee of a settled order is the operator's: `fees` is what the gateway calls accrued. */
function earnedPostings(asset: string, fee: bigint): Posting[] {
  return [
    { account: 'fees:due', asset, amount: fee },
    { account: 'fees', asset, amount: -fee },
  ];
}

/** Money that went from others to others without staying anywhere of ours. */
export function passedOn(passed: {
  readonly chainName: string;
  readonly asset: string;
  readonly from: 'payers' | 'refunders' | 'receivers';
  readonly to: 'payers' | 'recipients';
  readonly amount: bigint;
}): Posting[] {
  const { chainName, asset, from, to, amount } = passed;
  return [
    { account: `${to}:${chainName}`, asset, amount },
    { account: `${from}:${chainName}`, asset, amount: -amount },
  ];
}

/** Earned fees left the gateway. */
export function feeWithdrawalPostings(chainName: string, asset: string, amount: bigint): Posting[] {
  return [
    { account: 'fees', asset, amount },
    { account: gateway(chainName), asset, amount: -amount },
  ];
}

/** The operator put float into the vault, or with a negative amount took some out. */
export function floatPostings(chainName: string, asset: string, amount: bigint): Posting[] {
  return [
    { account: vault(chainName), asset, amount },
    { account: 'float', asset, amount: -amount },
  ];
}

/** The gateway holds what nobody here can place: sent to it by mistake, or for an order that is not known any more. */
export function unmatchedPostings(chainName: string, asset: string, amount: bigint): Posting[] {
  return [
    { account: gateway(chainName), asset, amount },
    { account: 'unmatched', asset, amount: -amount },
  ];
}

/** An order that is not known was settled: what it left behind is an earned fee. */
export function unmatchedSettlementPostings(
  chainName: string,
  asset: string,
  settled: { readonly net: bigint; readonly fee: bigint; readonly isIntoVault: boolean },
): Posting[] {
  const { net, fee, isIntoVault } = settled;
  return [
    ...unmatchedPostings(chainName, asset, -net),
    { account: 'unmatched', asset, amount: fee },
    { account: 'fees', asset, amount: -fee },
    ...(isIntoVault ? floatPostings(chainName, asset, net) : []),
  ];
}

/** The operator's wallet gave what a payer's deposit lacked, so that the merchant has all of it. */
export function additionPostings({ tokenId }: StoredOrder, amount: bigint): Posting[] {
  // A token's id begins with its chain.
  const [chainName = ''] = tokenId.split('::');
  return [
    { account: 'tolerance', asset: tokenId, amount },
    { account: `wallet:${chainName}`, asset: tokenId, amount: -amount },
  ];
}
