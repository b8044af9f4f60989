import { orderKinds } from '@florin/protocol/order.ts';
import type { Posting } from '#ledger/entry.ts';
import type { StoredOrder } from '#orders/stored-order.ts';

/**
 * The postings of each on-chain fact. Assets (gateway, vault, bridge) are debits. Debts (merchant, fees) and the
 * operator's own money (float) are credits. Each entry sums to zero per asset. Tokens are not looked up in the
 * configuration: a fact is booked even after the operator has removed its token.
 */

/** Moves an amount of one asset from one account to another. */
function transfer(from: string, to: string, asset: string, amount: bigint): Posting[] {
  return [
    { account: to, asset, amount },
    { account: from, asset, amount: -amount },
  ];
}

function gateway(chainName: string): string {
  return `gateway:${chainName}`;
}

function vault(chainName: string): string {
  return `vault:${chainName}`;
}

/** What was burnt on a chain and is not minted on the merchant's chain yet. */
function bridge(chainName: string): string {
  return `bridge:${chainName}`;
}

function merchant(order: StoredOrder): string {
  return `merchant:${order.order.channelId}`;
}

/**
 * A final payment. The gateway holds the total and owes it to the merchant and the fees; the settlement earns the fees.
 * Our contracts never hold a direct payment.
 */
export function paymentPostings(order: StoredOrder, chainName: string): Posting[] {
  const { total, fee, orderType } = order.order;
  const asset = order.tokenId;
  if (orderType === orderKinds.direct)
    return transferPostings({ chainName, asset, from: 'payers', to: 'recipients', amount: total });
  return [
    { account: gateway(chainName), asset, amount: total },
    { account: merchant(order), asset, amount: -(total - fee) },
    { account: 'fees:due', asset, amount: -fee },
  ];
}

/**
 * A settlement: the gateway released the net amount to the merchant, into the vault's float for a payout on another
 * chain, or by a burn, which is owed to the merchant until the mint. `isIntoVault` comes from the event and not from the
 * order, because a merchant whose own address is a vault gives the money to the float.
 */
export function settlementPostings(
  order: StoredOrder,
  { chainName, isIntoVault }: { readonly chainName: string; readonly isIntoVault: boolean },
): Posting[] {
  const { total, fee, orderType } = order.order;
  const net = total - fee;
  const asset = order.tokenId;
  // `fees` is what the gateway calls accrued.
  const earned = transfer('fees', 'fees:due', asset, fee);
  if (orderType === orderKinds.cctp)
    return [...earned, ...transfer(gateway(chainName), bridge(chainName), asset, net)];
  const released = [...earned, ...transfer(gateway(chainName), merchant(order), asset, net)];
  return isIntoVault ? [...released, ...floatPostings(chainName, asset, net)] : released;
}

/** The vault of the target chain paid the merchant from the float: `amount` in units of the settlement token. */
export function payoutPostings(paid: { chainName: string; asset: string; amount: bigint }): Posting[] {
  return transfer(vault(paid.chainName), 'float', paid.asset, paid.amount);
}

/** What was burnt on the order's chain (`chainName`) was minted to the merchant on the other chain. */
export function mintPostings(order: StoredOrder, chainName: string): Posting[] {
  const net = order.order.total - order.order.fee;
  return transfer(bridge(chainName), merchant(order), order.tokenId, net);
}

/** The whole payment went back to the payer, by refund or reclaim. */
export function returnPostings(order: StoredOrder, chainName: string): Posting[] {
  return paymentPostings(order, chainName).map((posting) => ({ ...posting, amount: -posting.amount }));
}

/** Money that moved between third parties and was never in our contracts. */
export function transferPostings(moved: {
  readonly chainName: string;
  readonly asset: string;
  readonly from: 'payers' | 'refunders' | 'receivers';
  readonly to: 'payers' | 'recipients';
  readonly amount: bigint;
}): Posting[] {
  const { chainName, asset, from, to, amount } = moved;
  return transfer(`${from}:${chainName}`, `${to}:${chainName}`, asset, amount);
}

/** Earned fees left the gateway, or stay there if the amount is negative. */
export function feeWithdrawalPostings(chainName: string, asset: string, amount: bigint): Posting[] {
  return transfer(gateway(chainName), 'fees', asset, amount);
}

/** The operator put float into the vault, or took some out if the amount is negative. */
export function floatPostings(chainName: string, asset: string, amount: bigint): Posting[] {
  return transfer('float', vault(chainName), asset, amount);
}

/** The gateway holds money of no known order: sent to it by mistake, or paid for an order that this database lost. */
export function unmatchedPostings(chainName: string, asset: string, amount: bigint): Posting[] {
  return transfer('unmatched', gateway(chainName), asset, amount);
}

/** The settlement of an unknown order. The fee stays in the gateway and is earned. */
export function unmatchedSettlementPostings(
  chainName: string,
  asset: string,
  settled: { readonly net: bigint; readonly fee: bigint; readonly isIntoVault: boolean },
): Posting[] {
  const { net, fee, isIntoVault } = settled;
  return [
    ...unmatchedPostings(chainName, asset, -net),
    ...transfer('fees', 'unmatched', asset, fee),
    ...(isIntoVault ? floatPostings(chainName, asset, net) : []),
  ];
}

/** The operator's wallet added what a payer's deposit lacked, so that the merchant gets the whole amount. */
export function additionPostings({ tokenId }: StoredOrder, amount: bigint): Posting[] {
  // A token's id begins with its chain.
  const [chainName = ''] = tokenId.split('::');
  return transfer(`wallet:${chainName}`, 'tolerance', tokenId, amount);
}
