import { calls, parseFeeHistory, revertDataOf } from '../nodes/actions.ts';
import { parseQuantity } from '../nodes/parse.ts';
import { type Rpc, resultOf } from '../nodes/rpc.ts';
import { finalTransactionCount, requireChain, type SenderContext } from './context.ts';
import { type FeeMarket, feeHistoryBlocks, initialFees, tipOf, tipPercentile } from './fees.ts';
import { GasLimitExceeded, type RevertedPlan, type SendCall, type SendPlan } from './sent.ts';

/** The request whose answer `readFeeMarket` reads. */
export const feeMarketCall = calls.feeHistory(feeHistoryBlocks, tipPercentile);

/** Reads the answer to `feeMarketCall`. */
export function readFeeMarket(context: SenderContext, result: unknown): FeeMarket {
  const { nextBaseFee, tips } = parseFeeHistory(result);
  return { nextBaseFee, tip: tipOf(tips, context.settings.minTip) };
}

/** Asks the network for gas and fees of a call; see `Sender.plan`. */
export async function planTransaction(
  context: SenderContext,
  chainId: number,
  { purpose, to, data }: SendCall,
): Promise<SendPlan | RevertedPlan> {
  const chain = requireChain(context, chainId);
  const rpc: Rpc = context.rpcOf(chainId);
  const call = calls.estimateGas({ from: context.wallet.address, to, data });
  const [estimate, history] = await rpc.batch([call, feeMarketCall]);
  if (estimate !== undefined && 'error' in estimate) {
    const reason = revertDataOf(estimate.error);
    if (reason !== undefined) return { reverted: true, data: reason };
  }
  const gas = parseQuantity('gas estimate', resultOf(estimate));
  // A fifth more: the state may change before the block, and some nodes add no margin.
  const gasLimit = (gas * 12n) / 10n;
  if (gasLimit > context.settings.maxGas) {
    throw new GasLimitExceeded(
      `a ${purpose} transaction needs ${gasLimit} gas, over ${context.settings.maxGas}`,
    );
  }
  const market = readFeeMarket(context, resultOf(history));
  const fees = initialFees(market, context.maxFeePerGas);
  const nonceFloor = await finalTransactionCount(context, chain, rpc);
  return {
    ...{ purpose, to, data },
    ...fees,
    baseFee: market.nextBaseFee,
    chainId,
    wallet: context.wallet.address,
    gasLimit,
    nonceFloor,
  };
}
