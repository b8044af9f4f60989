import { getBalance, RpcError } from '@florin/evm';
import type { SenderContext } from './context.ts';
import { planTransaction } from './plan.ts';
import { offeredAhead } from './sender.sql.ts';
import type { RevertedPlan, SendPlan, SendPurpose, SendRequest } from './sent.ts';

/** Payments of others: the relayer's wallet sends these, and nothing else. */
const relayedPurposes: ReadonlySet<SendPurpose> = new Set(['relay', 'collect']);

/** Whether a call of this purpose pays an order with money of somebody else's. */
export function isRelayed(purpose: SendPurpose): boolean {
  return relayedPurposes.has(purpose);
}

/** The wallet that sends payments of others, and what a process remembers of it. */
export interface Relayer {
  readonly context: SenderContext;
  /** Chains on which it was last found without gas. Losing this costs a repeated line in the log. */
  readonly lacking: Set<number>;
  /** Chains of which no node says what it has. */
  readonly silent: Set<number>;
}

/** Payments that the wallet must have gas for: those that are planned at one moment see one balance. */
const paymentsAtOnce = 10n;
/** What a payment takes in units of gas, with the fifth that is kept in hand, unless its payer's wallet has costly code. */
const paymentGas = 200_000n;

/**
 * Plans a call of the relayer's wallet; undefined when it lacks gas there, or the node refuses to say whether it does, so
 * that another wallet is to send it. Whoever runs the service is told once when that begins, and once when it ends. Throws
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
  // Twice as much to begin again: at the edge, payments would change wallets and the log would fill.
  const spare = paymentsAtOnce * paymentGas * plan.maxFee * (wasLacking ? 2n : 1n);
  const needed = (ahead?.wei ?? 0n) + spare;
  const isLacking = balance < needed;
  if (isLacking !== wasLacking) {
    const fields = { chainId, wallet: address, balance: balance.toString(), needed: needed.toString() };
    if (isLacking) context.log.warn('sender.relayer_without_gas', fields);
    else context.log.info('sender.relayer_with_gas', fields);
  }
  if (isLacking) lacking.add(chainId);
  else lacking.delete(chainId);
  // By itself only: strangers choose how much gas their own code takes, and must not switch the wallet of others by it.
  const isTooCostly =
    plan.gasLimit > paymentGas && balance < needed + (plan.gasLimit - paymentGas) * plan.maxFee;
  return isLacking || isTooCostly ? undefined : plan;
}

/** Some nodes estimate nothing for a wallet that could not pay it. Whether it is that, the next wallet's plan shows. */
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
