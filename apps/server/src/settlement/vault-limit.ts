import { call, RpcError, revertDataOf } from '@florin/evm';
import { maxMicroUsd, microUsd, toTokenAmount, unitsPerMicroUsd } from '@florin/protocol/money.ts';
import type { Hex, Payout } from '@florin/protocol/order.ts';
import type { Token } from '@florin/protocol/token.ts';
import type { Chain } from '#chains/chain.ts';
import type { SettlementContext } from './context.ts';
import { oldestShortPayout, payoutsUnderWay } from './leg.sql.ts';
import { availableCall, balanceCall, capsCall, largestPayoutOf, unnamedVaultOf } from './settlement-call.ts';

/** What a vault can pay in one token, in units of the token. */
export interface VaultLimit {
  /** What it can still pay now. */
  left: bigint;
  /** The vault's caps never let a larger payout pass. */
  readonly largest: bigint;
  /** The order that waits for more than is left, for which the rest is kept; empty when there is none. */
  readonly keptFor: string;
}

/** Takes a payout from what is left, unless the vault cannot make it now (short) or under its caps (over_caps). */
export function takeFrom(
  limit: VaultLimit,
  { orderId, amount }: Pick<Payout, 'orderId' | 'amount'>,
): 'taken' | 'short' | 'over_caps' {
  if (amount > limit.largest) return 'over_caps';
  const isKeptForOther = limit.keptFor !== '' && limit.keptFor !== orderId;
  if (isKeptForOther || amount > limit.left) return 'short';
  limit.left -= amount;
  return 'taken';
}

/** Undefined when the vault or the token refuses to be read: its payouts wait, and those of others continue. */
export async function readVaultLimit(
  deps: SettlementContext,
  chain: Chain,
  vault: Hex,
  token: Token,
): Promise<VaultLimit | undefined> {
  // Read first: a payout that is mined in between counts twice and delays another, rather than not at all.
  const [row] = await deps.db.query(payoutsUnderWay, {
    chainId: chain.chainId,
    settlementToken: token.tokenId,
  });
  const underWay = toTokenAmount(microUsd(row?.net_value ?? 0n), token.decimals);
  const [available, caps, held] = await Promise.all([
    readUnlessRefused(deps, chain, vault, availableCall(token.address)),
    readUnlessRefused(deps, chain, vault, capsCall(token.address)),
    readUnlessRefused(deps, chain, token.address, balanceCall(vault)),
  ]);
  if (available === undefined || caps === undefined || held === undefined) return undefined;
  const [left, largest] = [BigInt(available) - underWay, largestPayoutOf(caps)];
  const isFloatShort = BigInt(held) < largest;
  const payable = isFloatShort ? BigInt(held) : largest;
  return { left, largest, keptFor: await orderToKeepFor(deps, chain, { vault, token }, { left, payable }) };
}

/** What a contract answers at the newest block; undefined when it reverts or is no contract. */
async function readUnlessRefused(
  deps: SettlementContext,
  { chainId }: Chain,
  to: Hex,
  data: Hex,
): Promise<Hex | undefined> {
  try {
    const answer = await call(deps.rpcOf(chainId), { to, data });
    if (answer !== '0x') return answer;
  } catch (error) {
    if (!(error instanceof RpcError) || revertDataOf(error) === undefined) throw error;
  }
  deps.log.warn('settlement.contract_refuses', { chainId, contract: to, call: data.slice(0, 10) });
  return undefined;
}

/**
 * The payout that is served before all others: the oldest that waits for the next hour or day of the vault's caps.
 * `payable` is the most that the vault holds and its caps let pass at once. A larger payout needs a fuller vault or
 * higher caps, and others need not wait for that.
 */
async function orderToKeepFor(
  { db, clock, settings }: SettlementContext,
  chain: Chain,
  { vault, token }: { vault: Hex; token: Token },
  { left, payable }: { left: bigint; payable: bigint },
): Promise<string> {
  const payableValue = payable / unitsPerMicroUsd(token.decimals);
  const isUnbounded = payableValue > maxMicroUsd;
  const [oldest] = await db.query(oldestShortPayout, {
    chainId: chain.chainId,
    settlementToken: token.tokenId,
    createdBefore: new Date(clock.now().getTime() - settings.keepAfterSeconds * 1_000),
    mostNetValue: isUnbounded ? maxMicroUsd : payableValue,
    vault,
    standardVault: unnamedVaultOf(chain),
  });
  if (oldest === undefined) return '';
  return toTokenAmount(microUsd(oldest.net_value), token.decimals) <= left ? '' : oldest.order_id;
}
