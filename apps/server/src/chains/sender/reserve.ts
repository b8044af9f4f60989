import { getBalance, RpcError } from '@florin/evm';
import type { SenderContext } from './context.ts';
import { gasReserve } from './gas-balance.ts';
import { planTransaction } from './plan.ts';
import { isRelayed } from './relayer.ts';
import { offeredAhead } from './sender.sql.ts';
import type { RevertedPlan, SendCall, SendPlan, SendPurpose } from './sent.ts';

/** Whether a call only spares payers something: it is done without before settlements and returns are. */
export function isForPayers(purpose: SendPurpose): boolean {
  return isRelayed(purpose) || purpose === 'add';
}

/**
 * Plans a call for payers from the first of the settlers' wallets that keeps its reserve, the gas of some ten full batches of
 * settlements, besides this call and all that it has on its way. Withheld when none does; whoever runs the service is told once
 * when that begins, and once when it ends (`withheld`: the chains where it has begun).
 */
export async function planWithinReserve(
  lanes: readonly SenderContext[],
  withheld: Set<number>,
  chainId: number,
  call: SendCall,
): Promise<SendPlan | RevertedPlan> {
  for (const lane of lanes) {
    const { plan, spare } = await planWithSpare(lane, chainId, call);
    if ('reverted' in plan) return plan;
    if (spare !== undefined && spare < gasReserve * plan.maxFee) continue;
    if (withheld.delete(chainId)) lane.log.info('sender.reserve_kept', { chainId });
    return plan;
  }
  const [first] = lanes;
  if (first !== undefined && !withheld.has(chainId)) {
    withheld.add(chainId);
    const error = new Error('the gas that is left is kept for settlements: payments of payers are not sent');
    first.log.error('sender.reserve_reached', error, { chainId });
  }
  return { reverted: true, data: '0x', isWithheld: true };
}

/** A plan, and what its wallet would have left, in wei; undefined when the node refuses to say what it has. */
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
