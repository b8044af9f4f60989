import { getBalance } from '../actions.ts';
import { RpcError } from '../rpc.ts';
import type { SenderContext } from './context.ts';
import { planTransaction } from './plan.ts';
import { offeredAhead } from './sender.sql.ts';
import type { RevertedPlan, SendPlan, SendRequest } from './sent.ts';

/** The wallet that sends the relayed purposes, and what a process remembers of it. */
export interface Relayer {
  readonly context: SenderContext;
  /** Chains on which it was last found without gas. Losing this costs a repeated line in the log. */
  readonly lacking: Set<number>;
  /** Chains where no node reports its balance. */
  readonly silent: Set<number>;
}

/** Calls that the wallet must have gas for: those that are planned at the same time see the same balance. */
const callsAtOnce = 10n;
/** What a usual call takes in units of gas, with a fifth to spare. */
const callGas = 200_000n;

/**
 * Plans a call of the relayer's wallet. Undefined when it lacks gas there, or the node refuses to say whether it does:
 * another wallet is then to send it. The log says once when that begins, and once when it ends. Throws `RpcUnavailable`
 * when no node answers.
 */
export async function planByRelayer(
  relayer: Relayer,
  chainId: number,
  { dataByRelayer, ...call }: SendRequest,
): Promise<SendPlan | RevertedPlan | undefined> {
  const { context, lacking } = relayer;
  const { address } = context.wallet;
  const [plan, balance, [ahead]] = await Promise.all([
    planUnlessRefused(context, chainId, { ...call, data: dataByRelayer ?? call.data }),
    balanceUnlessRefused(relayer, chainId),
    context.db.query(offeredAhead, { chainId, wallet: address.toLowerCase() }),
  ]);
  if (plan === undefined || 'reverted' in plan) return plan;
  if (balance === undefined) return undefined;
  const wasLacking = lacking.has(chainId);
  // Twice as much to begin again: near the limit, calls would change wallets each time and fill the log.
  const spare = callsAtOnce * callGas * plan.maxFee * (wasLacking ? 2n : 1n);
  const needed = (ahead?.wei ?? 0n) + spare;
  const isLacking = balance < needed;
  if (isLacking !== wasLacking) {
    const fields = { chainId, wallet: address, balance: balance.toString(), needed: needed.toString() };
    if (isLacking) context.log.warn('sender.relayer_without_gas', fields);
    else context.log.info('sender.relayer_with_gas', fields);
  }
  if (isLacking) lacking.add(chainId);
  else lacking.delete(chainId);
  // A costly call goes to another wallet by itself: strangers choose how much gas their code takes, and must not change the
  // wallet that sends the calls of others.
  const isTooCostly = plan.gasLimit > callGas && balance < needed + (plan.gasLimit - callGas) * plan.maxFee;
  return isLacking || isTooCostly ? undefined : plan;
}

/** Undefined where the node refuses: some estimate nothing for a wallet that cannot pay. */
async function planUnlessRefused(
  context: SenderContext,
  chainId: number,
  call: Omit<SendRequest, 'dataByRelayer'>,
): Promise<SendPlan | RevertedPlan | undefined> {
  try {
    return await planTransaction(context, chainId, call);
  } catch (error) {
    if (error instanceof RpcError) return undefined;
    throw error;
  }
}

/** What the wallet has; undefined when a node answers with an error. */
async function balanceUnlessRefused(
  { context, silent }: Relayer,
  chainId: number,
): Promise<bigint | undefined> {
  const { address: wallet } = context.wallet;
  try {
    const balance = await getBalance(context.rpcOf(chainId), wallet);
    if (silent.delete(chainId)) context.log.info('sender.relayer_balance_known', { chainId, wallet });
    return balance;
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    if (!silent.has(chainId))
      context.log.warn('sender.relayer_balance_unknown', { chainId, wallet, reason: error.message });
    silent.add(chainId);
    return undefined;
  }
}
