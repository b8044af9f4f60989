import type { Hex } from '@florin/protocol/order.ts';
import { decodeFunctionData, maxUint256, parseAbi, zeroAddress } from 'viem';
import { logOther } from './contract-logs.ts';
import { balanceKey, balanceOf, type CallInProgress, funded, Reverted } from './contract-state.ts';

/** The token functions that contracts and actors call. The block list has the test tokens' names. */
const tokenAbi = parseAbi([
  'function transfer(address to, uint256 value) returns (bool)',
  'function approve(address spender, uint256 value) returns (bool)',
  'function blacklist(address account)',
  'function unBlacklist(address account)',
]);

/** A call of a token by an external account. */
export function executeToken(run: CallInProgress, token: Hex, data: Hex): void {
  const { functionName, args } = decodeFunctionData({ abi: tokenAbi, data });
  switch (functionName) {
    case 'transfer':
      if (!transfer(run, token, run.from, args[0], args[1])) throw new Reverted('token');
      return;
    case 'approve':
      if (!approve(run, token, run.from, args[0], args[1])) throw new Reverted('token');
      return;
    default: {
      if (!isSame(run.from, run.context.admin)) throw new Reverted('token');
      const blocked = new Set(run.state.blocked);
      if (functionName === 'blacklist') blocked.add(balanceKey(args[0], token));
      else blocked.delete(balanceKey(args[0], token));
      run.state = { ...run.state, blocked };
    }
  }
}

export function isSame(first: string, second: string): boolean {
  return first.toLowerCase() === second.toLowerCase();
}

function isBlocked(run: CallInProgress, holder: string, token: Hex): boolean {
  return run.state.blocked.has(balanceKey(holder, token));
}

/** Transfers tokens of `from`. Returns false, without an effect, where the token refuses. */
export function transfer(run: CallInProgress, token: Hex, from: Hex, to: Hex, value: bigint): boolean {
  if (to === zeroAddress || isBlocked(run, from, token) || isBlocked(run, to, token)) return false;
  if (!run.context.hasUnlimitedTokens(from) && value > balanceOf(run.state, from, token)) return false;
  run.state = funded(funded(run.state, from, token, -value), to, token, value);
  logOther(run, token, 'Transfer', { from, to, value });
  return true;
}

/** Like the token's transferFrom, called by `spender`. */
export function transferFrom(
  run: CallInProgress,
  token: Hex,
  { spender, from, to, value }: { spender: Hex; from: Hex; to: Hex; value: bigint },
): boolean {
  if (isBlocked(run, spender, token)) return false;
  const key = `${from}:${spender}:${token}`.toLowerCase();
  const allowed = run.context.hasUnlimitedTokens(from) ? maxUint256 : (run.state.allowances.get(key) ?? 0n);
  if (value > allowed) return false;
  const before = run.state;
  if (allowed !== maxUint256)
    run.state = { ...before, allowances: new Map(before.allowances).set(key, allowed - value) };
  if (transfer(run, token, from, to, value)) return true;
  run.state = before;
  return false;
}

export function approve(run: CallInProgress, token: Hex, owner: Hex, spender: Hex, value: bigint): boolean {
  if (isBlocked(run, owner, token)) return false;
  const key = `${owner}:${spender}:${token}`.toLowerCase();
  run.state = { ...run.state, allowances: new Map(run.state.allowances).set(key, value) };
  logOther(run, token, 'Approval', { owner, spender, value });
  return true;
}

/** Transfers from one of our contracts, or reverts. */
export function send(run: CallInProgress, token: Hex, from: Hex, to: Hex, value: bigint): void {
  if (!transfer(run, token, from, to, value)) throw new Reverted('TransferFailed');
}

/** Like TokenTransfer.pullExact by the gateway. */
export function pullExact(run: CallInProgress, token: Hex, from: Hex, to: Hex, value: bigint): void {
  if (!tryPullExact(run, token, from, to, value)) throw new Reverted('TransferFailed');
}

/** Like `pullExact`, but false where the token refuses. */
export function tryPullExact(run: CallInProgress, token: Hex, from: Hex, to: Hex, value: bigint): boolean {
  if (!transferFrom(run, token, { spender: run.context.gateway, from, to, value })) return false;
  requireArrival(from, to, value);
  return true;
}

/** Reverts when the recipient's balance does not grow by exactly the amount, as with a transfer to oneself. */
export function requireArrival(from: string, to: string, value: bigint): void {
  if (value !== 0n && isSame(from, to)) throw new Reverted('InexactTransfer');
}
