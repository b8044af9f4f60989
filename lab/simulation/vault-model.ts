import { payoutVaultAbi } from '@florin/protocol/contract.gen.ts';
import type { Hex, Payout } from '@florin/protocol/order.ts';
import { decodeFunctionData, zeroAddress, zeroHash } from 'viem';
import { logVault } from './contract-logs.ts';
import {
  balanceOf,
  type CallContext,
  type CallInProgress,
  type ContractState,
  isSettler,
  Reverted,
} from './contract-state.ts';
import { isSame, send, transfer } from './token-model.ts';

/** Reasons of IPayoutVault; 0: not skipped. */
type Reason = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9;

export function executeVault(run: CallInProgress, data: Hex): void {
  const { functionName, args } = decodeFunctionData({ abi: payoutVaultAbi, data });
  const { admin, vault } = run.context;
  if (functionName === 'withdraw') {
    const [token, to, amount] = args as readonly [Hex, Hex, bigint];
    if (!isSame(run.from, admin)) throw new Reverted('Unauthorized');
    if (to === zeroAddress) throw new Reverted('ZeroAddress');
    logVault(run, 'Withdrawn', { token, to, amount });
    send(run, token, vault, to, amount);
    return;
  }
  if (functionName !== 'payoutBatch') {
    changePolicy(run, functionName, args ?? []);
    return;
  }
  if (run.state.isVaultPaused) throw new Reverted('ContractPaused');
  if (!isSettler(run.context, run.from) || run.state.isVaultSettlerRemoved)
    throw new Reverted('Unauthorized');
  const [payouts, signatures] = args as readonly [readonly Payout[], readonly Hex[]];
  if (payouts.length !== signatures.length) throw new Reverted('LengthMismatch');
  for (const [index, payout] of payouts.entries()) payOut(run, payout, signatures[index] ?? '0x');
}

/** The admin's changes to a vault. The simulation does not read their logs. */
function changePolicy(run: CallInProgress, functionName: string, args: readonly unknown[]): void {
  const { context, state } = run;
  if (!isSame(run.from, context.admin)) throw new Reverted('Unauthorized');
  switch (functionName) {
    case 'setCaps': {
      const [token, perOrder, hourly, daily] = args as readonly [Hex, bigint, bigint, bigint];
      const caps = new Map(state.caps).set(token.toLowerCase(), { perOrder, hourly, daily });
      run.state = { ...state, caps };
      return;
    }
    case 'pause':
    case 'unpause':
      run.state = { ...state, isVaultPaused: functionName === 'pause' };
      return;
    case 'setSigner':
      run.state = { ...state, isVaultSignerRemoved: args[1] === false };
      return;
    case 'setSettler':
      run.state = { ...state, isVaultSettlerRemoved: args[1] === false };
      return;
    default:
      throw new Error(`the model of the vault has no ${functionName}`);
  }
}

function payOut(run: CallInProgress, payout: Payout, signature: Hex): void {
  const { orderId, channelId, metaData, sourceChain, token, to, amount } = payout;
  const skip = (reason: Reason) => logVault(run, 'PayoutSkipped', { orderId, reason });
  const outflow = outflowOf(run.state, token, run.context.timeSeconds);
  const reason = reasonOf(run.state, run.context, payout, signature);
  if (reason !== 0) {
    skip(reason);
    return;
  }
  const before = run.state;
  const key = token.toLowerCase();
  const { hour, inHour, inDay } = outflow;
  const outflows = new Map(before.outflows).set(key, {
    hour,
    inHour: inHour + amount,
    inDay: inDay + amount,
  });
  run.state = { ...before, paidOut: new Set(before.paidOut).add(orderId), outflows };
  if (transfer(run, token, run.context.vault, to, amount)) {
    logVault(run, 'PaidOut', { orderId, channelId, to, token, amount, sourceChain, metaData });
    return;
  }
  run.state = before;
  skip(8);
}

function reasonOf(state: ContractState, context: CallContext, payout: Payout, signature: Hex): Reason {
  const { orderId, token, to, amount, sourceChain } = payout;
  if (orderId === zeroHash || (state.paidOut.has(orderId) && context.isIdempotent)) return 1;
  if (to === zeroAddress || isSame(to, context.vault) || amount === 0n || sourceChain === 0n) return 3;
  if (BigInt(context.timeSeconds) > payout.deadline) return 9;
  if (state.isVaultSignerRemoved || !context.isPayoutSigned(payout, signature)) return 2;
  const caps = state.caps.get(token.toLowerCase());
  if (caps === undefined || caps.perOrder === 0n || caps.hourly === 0n || caps.daily === 0n) return 4;
  const { inHour, inDay } = outflowOf(state, token, context.timeSeconds);
  if (amount > caps.perOrder) return 5;
  if (amount > caps.hourly - inHour) return 6;
  return amount > caps.daily - inDay ? 7 : 0;
}

/** The largest payout that the vault's caps allow, and the amount that is available at a time, like `available`. */
export function payoutLimitsOf(
  state: ContractState,
  { vault, token }: { readonly vault: string; readonly token: string },
  timeSeconds: number,
): { readonly largest: bigint; readonly available: bigint } {
  const float = balanceOf(state, vault, token);
  const caps = state.caps.get(token.toLowerCase());
  if (caps === undefined || caps.perOrder === 0n) return { largest: 0n, available: 0n };
  const { inHour, inDay } = outflowOf(state, token, timeSeconds);
  const min = (first: bigint, ...others: readonly bigint[]) => {
    let low = first;
    for (const other of others) if (other < low) low = other;
    return low;
  };
  const remaining = min(caps.hourly - inHour, caps.daily - inDay);
  return {
    largest: min(float, caps.perOrder, caps.hourly, caps.daily),
    available: min(float, remaining < 0n ? 0n : remaining),
  };
}

/** The amounts paid out in the clock hour and in the day of a time. */
export function outflowOf(state: ContractState, token: string, timeSeconds: number) {
  const hour = Math.floor(timeSeconds / 3_600);
  const stored = state.outflows.get(token.toLowerCase()) ?? { hour: 0, inHour: 0n, inDay: 0n };
  if (stored.hour === hour) return stored;
  const isSameDay = Math.floor(stored.hour / 24) === Math.floor(hour / 24);
  return { hour, inHour: 0n, inDay: isSameDay ? stored.inDay : 0n };
}
