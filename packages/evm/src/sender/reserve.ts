import { getBalance } from '../nodes/actions.ts';
import { RpcError } from '../nodes/rpc.ts';
import type { SenderContext } from './context.ts';
import { gasReserve } from './gas-balance.ts';
import { planTransaction } from './plan.ts';
import { offeredAhead } from './sender.sql.ts';
import type { RevertedPlan, SendCall, SendPlan } from './sent.ts';

/**
 * Plans a call that must leave the reserve untouched. It uses the first wallet with gas for this call, its pending
 * transactions and the reserve. When all lack gas the call is withheld. The log shows once when this begins and once
 * when it ends (`withheld`: the chains where it has begun).
 */
export async function planWithinReserve(
  contexts: readonly SenderContext[],
  withheld: Set<number>,
  chainId: number,
  call: SendCall,
): Promise<SendPlan | RevertedPlan> {
  for (const each of contexts) {
    const { plan, spare } = await planWithSpare(each, chainId, call);
    if ('reverted' in plan) return plan;
    if (spare !== undefined && spare < gasReserve * plan.maxFee) continue;
    if (withheld.delete(chainId)) each.log.info('sender.reserve_kept', { chainId });
    return plan;
  }
  const [first] = contexts;
  if (first !== undefined && !withheld.has(chainId)) {
    withheld.add(chainId);
    const error = new Error(
      'the remaining gas is reserved: calls without access to the reserve are not sent',
    );
    first.log.error('sender.reserve_reached', error, { chainId });
  }
  return { reverted: true, data: '0x', isWithheld: true };
}

/** A plan, and the balance that its wallet would keep, in wei; undefined when the node does not report it. */
async function planWithSpare(
  context: SenderContext,
  chainId: number,
  call: SendCall,
): Promise<{ readonly plan: SendPlan | RevertedPlan; readonly spare: bigint | undefined }> {
  const { address } = context.wallet;
  const [plan, balance, [ahead]] = await Promise.all([
    planTransaction(context, chainId, call),
    balanceUnlessRefused(context, chainId),
    context.db.query(offeredAhead, { chainId, wallet: address.toLowerCase() }),
  ]);
  const cost = 'reverted' in plan ? 0n : plan.gasLimit * plan.maxFee;
  return { plan, spare: balance === undefined ? undefined : balance - (ahead?.wei ?? 0n) - cost };
}

async function balanceUnlessRefused(
  { rpcOf, wallet }: SenderContext,
  chainId: number,
): Promise<bigint | undefined> {
  try {
    return await getBalance(rpcOf(chainId), wallet.address);
  } catch (error) {
    if (error instanceof RpcError) return undefined;
    throw error;
  }
}
