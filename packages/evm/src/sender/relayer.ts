import { getBalance } from '../nodes/actions.ts';
import { RpcError } from '../nodes/rpc.ts';
import type { SenderContext } from './context.ts';
import { planTransaction } from './plan.ts';
import { offeredAhead } from './sender.sql.ts';
import type { RevertedPlan, SendPlan, SendRequest } from './sent.ts';

/** The wallet that sends the relayed purposes, and its state in this process. */
export interface Relayer {
  readonly context: SenderContext;
  /** Chains where it last lacked gas. Losing this set costs a repeated log line. */
  readonly lacking: Set<number>;
  /** Chains where no node reports its balance. */
  readonly silent: Set<number>;
}

/** The wallet must have gas for this many calls: calls planned at the same time see the same balance. */
const callsAtOnce = 10n;
/** The gas of a usual call, with a fifth to spare. */
const callGas = 200_000n;

/**
 * Plans a call of the relayer's wallet. Undefined when the wallet lacks gas there, or the node does not report its
 * balance: another wallet then sends the call. The log shows once when this begins and once when it ends. Throws
 * `RpcUnavailable` when no node answers.
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
  // Resuming needs twice as much gas. Otherwise calls near the limit would switch wallets each time and fill the log.
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
  // A costly call goes to another wallet on its own. Strangers choose how much gas their code takes, and must not
  // change the wallet that sends other calls.
  const isTooCostly = plan.gasLimit > callGas && balance < needed + (plan.gasLimit - callGas) * plan.maxFee;
  return isLacking || isTooCostly ? undefined : plan;
}

/** Undefined where the node refuses: some nodes estimate nothing for a wallet that cannot pay. */
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

/** The wallet's balance; undefined when a node answers with an error. */
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
